/** `mcp install` and `mcp uninstall`: add or remove Querent's server entry in the configuration of programs that start MCP servers. */
import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { printable } from '../../../base/printable.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { type Cli, confirm, decodeUtf8, write } from '../io.ts'
import { each } from '../render/answer.ts'
import { homeFor } from '../session.ts'
import { print } from './print.ts'

// Programs that start MCP servers: where each keeps its configuration, and the form of an entry in it. Paths and forms are from the
// programs' own documentation (November 2026).

/** Command line with which the client program starts Querent's MCP server. */
interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

type ConfigEntry = Readonly<Record<string, string | boolean | readonly string[]>>

interface ConfigPlaces {
  readonly home: string
  readonly project: string
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

interface McpClient {
  readonly name: string
  /**
   * Whether the configuration file belongs to one project: the client then starts the server in the project's folder, where the server
   * finds the store itself.
   */
  readonly ofProject: boolean
  /** Name of the JSON object in the configuration file that contains the MCP servers by name. */
  readonly key: string
  file(places: ConfigPlaces): string
  entry(server: ServerCommand): ConfigEntry
}

const plain = ({ command, args }: ServerCommand): ConfigEntry => ({ command, args })
const typed = (server: ServerCommand): ConfigEntry => ({ type: 'stdio', ...plain(server) })

export const MCP_CLIENTS: readonly McpClient[] = [
  client('claude-code', 'project', '.mcp.json'),
  client('claude-code-user', 'home', '.claude.json', 'mcpServers', typed),
  client('claude-desktop', 'applications', 'Claude/claude_desktop_config.json'),
  client('cursor', 'home', '.cursor/mcp.json'),
  client('cursor-project', 'project', '.cursor/mcp.json'),
  client('vscode', 'applications', 'Code/User/mcp.json', 'servers', typed),
  client('vscode-project', 'project', '.vscode/mcp.json', 'servers', typed),
  client('windsurf', 'home', '.codeium/windsurf/mcp_config.json'),
  client('gemini', 'home', '.gemini/settings.json'),
  client('gemini-project', 'project', '.gemini/settings.json'),
  client('opencode', 'config', 'opencode/opencode.json', 'mcp', ({ command, args }) => {
    return { type: 'local', command: [command, ...args], enabled: true }
  }),
  client('zed', 'zed', 'settings.json', 'context_servers', server => ({ source: 'custom', ...plain(server) })),
]

function client(
  name: string,
  folder: Folder,
  path: string,
  key = 'mcpServers',
  entry: McpClient['entry'] = plain,
): McpClient {
  const file = (places: ConfigPlaces): string => {
    const one = join(folderOf(folder, places), path)
    return name === 'opencode' && existsSync(`${one}c`) ? `${one}c` : one // opencode also reads a file with the ending .jsonc
  }
  return { name, ofProject: folder === 'project', key, file, entry }
}

type Folder = 'home' | 'project' | 'applications' | 'config' | 'zed'

/**
 * The folder that contains a client's configuration file. `applications`: where the operating system keeps the settings of applications.
 */
function folderOf(folder: Folder, places: ConfigPlaces): string {
  const { home, project, platform, env } = places
  switch (folder) {
    case 'home':
      return home
    case 'project':
      return project
    case 'zed':
      return platform === 'win32'
        ? join(folderOf('applications', places), 'Zed')
        : join(folderOf('config', places), 'zed')
    case 'config':
      return (platform !== 'win32' && env['XDG_CONFIG_HOME']) || join(home, '.config')
    case 'applications':
      if (platform === 'darwin') return join(home, 'Library', 'Application Support')
      return platform === 'win32' ? env['APPDATA'] || join(home, 'AppData', 'Roaming') : folderOf('config', places)
  }
}

/**
 * MCP clients that seem to be installed: their configuration folder exists. A configuration file directly in the home or project folder
 * must itself exist.
 */
function clientsFound(places: ConfigPlaces): readonly McpClient[] {
  return MCP_CLIENTS.filter(client => {
    const file = client.file(places)
    const folder = dirname(file)
    return existsSync(folder === places.home || folder === places.project ? file : folder)
  })
}

// Sets or removes Querent's entry in a client's configuration file; every other byte of the file, including comments, stays unchanged.

/** Name of Querent's server in every configuration. */
const SERVER_NAME = 'querent'

interface ConfigEdit {
  /** Path of the configuration file, for messages. */
  readonly file: string
  /** Name of the JSON object in the configuration file that contains the MCP servers by name. */
  readonly key: string
  /** Querent's entry to write into the configuration file; null removes the entry. */
  readonly entry: ConfigEntry | null
}

/**
 * Text of the configuration file after the change. Throws `invalid_argument` with line and column if the present text is not a valid
 * configuration file.
 */
function editJson(text: string, edit: ConfigEdit): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const body = text.slice(mark.length)
  return mark + edited(body.trim() === '' ? '{}\n' : body, edit)
}

function edited(text: string, { file, key, entry }: ConfigEdit): string {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) throw broken(file, text, offset, `not JSON (${printParseErrorCode(error)})`)
  if (root?.type !== 'object') throw broken(file, text, 0, 'expected a JSON object')
  const servers = findNodeAtLocation(root, [key])
  if (servers !== undefined && servers.type !== 'object') {
    throw broken(file, text, servers.offset, `${key}: expected an object`)
  }
  const present = findNodeAtLocation(root, [key, SERVER_NAME])
  if (entry === null) return present?.parent === undefined ? text : withoutMember(text, present.parent)
  if (servers === undefined) return withMember(text, root, key, { [SERVER_NAME]: entry })
  if (present === undefined) return withMember(text, servers, SERVER_NAME, entry)
  // Fields of the present entry that are not part of the new one, for example its environment, belong to the user and are kept. The editor
  // gets no formatting options, because with them it would also reformat neighbouring entries.
  const set = (before: string, path: string[], value: unknown) => applyEdits(before, modify(before, path, value, {}))
  if (present.type !== 'object') return set(text, [key, SERVER_NAME], entry)
  return Object.entries(entry).reduce((before, [name, value]) => {
    const old = findNodeAtLocation(present, [name])
    const isSame = old !== undefined && isDeepStrictEqual(getNodeValue(old), value)
    return isSame ? before : set(before, [key, SERVER_NAME, name], value)
  }, text)
}

/** Adds a member at the end of a JSON object, indented like the other members. */
function withMember(text: string, object: Node, name: string, value: object): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const last = object.children?.at(-1)
  const at = last === undefined ? object.offset + 1 : last.offset + last.length
  if (last !== undefined && !text.slice(object.offset, last.offset).includes('\n')) {
    return `${text.slice(0, at)}, ${JSON.stringify(name)}: ${JSON.stringify(value)}${text.slice(at)}`
  }
  const outer = indentAt(text, object.offset)
  const inner = last === undefined ? outer + unit : indentAt(text, last.offset)
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', eol + inner)
  const member = `${text.slice(0, at)}${last === undefined ? '' : ','}${eol}${inner}${JSON.stringify(name)}: ${lines}`
  // In an empty object, the closing brace is moved to a line of its own.
  const rest = text.slice(at)
  return last === undefined && /^\s*\}/.test(rest) ? member + eol + outer + rest.trimStart() : member + rest
}

/** Removes a member of a JSON object, with the comma after the member or, if it is the last one, with the comma before it. */
function withoutMember(text: string, member: Node): string {
  const before = text.slice(0, member.offset)
  const after = text.slice(member.offset + member.length)
  const comma = /^\s*,/.exec(after)?.[0]
  return comma === undefined ? before.replace(/,?\s*$/, '') + after : before.trimEnd() + after.slice(comma.length)
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''
}

/** The error for a configuration file that is not valid, with the position of the fault as line and column, counted from 1. */
function broken(file: string, text: string, offset: number, expected: string): QuerentError {
  const lines = text.slice(0, offset).split('\n')
  const [line, column] = [lines.length, (lines.at(-1)?.length ?? 0) + 1]
  const message = `${file}:${line}:${column}: ${expected}; correct the file, nothing was written`
  return new QuerentError('invalid_argument', message, { field: 'client', file, line, column, expected })
}

// Reads and replaces configuration files of other programs. A file is read whole, backed up, and replaced in one step or not at all.

interface ConfigFile {
  /** Path of the configuration file, with symbolic links resolved. */
  readonly path: string
  /** Text of the configuration file; null if the file does not exist. */
  readonly text: string | null
}

/** Permissions of a newly created configuration file: only this user can read it, because keys may be written into it later. */
const NEW_FILE_MODE = 0o600

/**
 * Reads a configuration file. Throws `denied` if the file is outside the allowed folders, also if a symbolic link leads outside;
 * `io_failed` if it cannot be read.
 */
async function readConfig(file: string, allowed: readonly string[]): Promise<ConfigFile> {
  const path = await realPlace(file)
  const folders = await Promise.all(allowed.map(realPlace))
  if (!folders.some(folder => isBelow(path, folder))) {
    throw new QuerentError('denied', `${file}: lies outside your home and this project; nothing was written`, { file })
  }
  const bytes = await orAbsent(readFile(path), path)
  // The decoder keeps a byte order mark, so that writing the file does not remove it.
  return { path, text: bytes === null ? null : decodeUtf8(bytes, path, true) }
}

/**
 * Replaces the text of a configuration file; resolves to the path of the backup, or null if the file did not exist. Throws `io_failed`, or
 * `conflict` if the file has changed since it was read.
 */
async function replaceConfig({ path, text }: ConfigFile, after: string): Promise<string | null> {
  const beside = join(dirname(path), `.${basename(path)}.querent-${process.pid}`)
  try {
    await mkdir(dirname(path), { recursive: true })
    const backup = text === null ? null : await copyAside(path)
    const mode = text === null ? NEW_FILE_MODE : (await stat(path)).mode & 0o777
    await writeFile(beside, after, { flag: 'wx', mode, flush: true })
    await chmod(beside, mode)
    if ((await orAbsent(readFile(path, 'utf8'), path)) !== text) {
      throw new QuerentError('conflict', `${path}: another program changed it meanwhile; nothing was written`, { path })
    }
    await rename(beside, path)
    return backup
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {})
    throw error instanceof QuerentError ? error : failed(path, (error as Error).message, error)
  }
}

/**
 * Throws `io_failed` if the configuration file is read-only; without this check it would be replaced, because renaming another file over it
 * needs no write permission for it.
 */
async function assertWritable({ path, text }: ConfigFile): Promise<void> {
  if (text !== null && ((await stat(path)).mode & 0o200) === 0) throw failed(path, 'is read-only; nothing was written')
}

async function copyAside(path: string, at = 1): Promise<string> {
  const backup = `${path}.querent-backup${at === 1 ? '' : `-${at}`}`
  try {
    await copyFile(path, backup, constants.COPYFILE_EXCL)
    return backup
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return copyAside(path, at + 1)
  }
}

/**
 * The path with symbolic links resolved. For a path that does not exist yet: the resolved path of its nearest existing folder, followed by
 * the remaining names.
 */
async function realPlace(path: string): Promise<string> {
  const absolute = resolve(path)
  const above = dirname(absolute)
  const real = await orAbsent(realpath(absolute), absolute)
  return real ?? (above === absolute ? absolute : join(await realPlace(above), basename(absolute)))
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path
}

async function orAbsent<T>(reading: Promise<T>, path: string): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw failed(path, (error as Error).message, error)
  }
}

function failed(path: string, why: string, cause?: unknown): QuerentError {
  return new QuerentError('io_failed', `${path}: ${why}`, { path }, cause)
}

interface McpInstallFlags extends CommonFlags {
  readonly client?: readonly string[]
  readonly lens?: readonly string[]
  readonly tools?: readonly string[]
  readonly print?: true
  /** Whether all clients start the package installed in the project, by `npx --no-install`. */
  readonly npx?: true
  readonly yes?: true
}

interface Change {
  readonly client: string
  readonly file: ConfigFile
  readonly after: string
}

/**
 * Installs or removes the server's entry in the configuration of each chosen client. All files are read before any is written: if one is
 * invalid, all stay unchanged.
 */
export async function runMcpInstall(cli: Cli, flags: McpInstallFlags, _words: unknown, made: Command): Promise<void> {
  const isRemoved = made.name() === 'uninstall'
  const { env, workingFolder: project } = cli.io
  const named = env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME']
  const places = { home: named || homedir(), project, platform: process.platform, env }
  const changes: Change[] = []
  for (const client of chosen(flags, places)) {
    const file = await readConfig(client.file(places), [places.home, places.project])
    const edit = {
      file: file.path,
      key: client.key,
      entry: isRemoved ? null : client.entry(serverFor(client, cli, flags)),
    }
    const before = file.text ?? ''
    const isAbsent = file.text === null && edit.entry === null
    const after = isAbsent ? before : editJson(before, edit)
    changes.push({ client: client.name, file, after })
  }
  const real = changes.filter(change => change.after !== (change.file.text ?? ''))
  const shown = flags.print === true ? cli.io.stdout : cli.io.stderr
  for (const { file, after } of wantsJson(flags) ? [] : real) {
    await write(shown, `${file.path}\n${changedLines(file.text ?? '', after)}\n`)
  }
  const isWritten = flags.print !== true && real.length > 0 && (await mayWrite(cli, flags, real))
  const backups = new Map<Change, string | null>()
  if (isWritten) for (const change of real) backups.set(change, await replaceConfig(change.file, change.after))
  const report = changes.map(change => ({
    client: change.client,
    path: change.file.path,
    state: !real.includes(change) ? 'unchanged' : isWritten ? 'written' : 'not written',
    backup: backups.get(change) ?? null,
  }))
  const line = '{state 11}  {client}  {path}{  (before: |backup|)}'
  await print(cli, flags, { clients: report }, each('clients', line))
  if (isWritten && !isRemoved && !wantsJson(flags)) {
    await write(
      cli.io.stderr,
      'Restart the client or reload its MCP servers. Run the command again when Node or the project moves.\n',
    )
    const missing = withoutStore(cli, flags)
    if (missing !== null) await write(cli.io.stderr, `The server cannot start yet: ${missing}\n`)
  }
}

/** Message that says why the installed server could not open a store; null if it can. */
function withoutStore(cli: Cli, flags: McpInstallFlags): string | null {
  try {
    homeFor(cli, flags)
    return null
  } catch (error) {
    if (error instanceof QuerentError) return error.message
    throw error
  }
}

async function mayWrite(cli: Cli, flags: McpInstallFlags, changes: readonly Change[]): Promise<boolean> {
  for (const { file } of changes) await assertWritable(file)
  if (flags.yes === true) return true
  if (cli.io.stdin.isTTY !== true || cli.io.stderr.isTTY !== true) {
    const message =
      '--yes: there is no terminal for the confirmation; add --yes to write, or --print to see what would change'
    throw new QuerentError('invalid_argument', message, { field: '--yes' })
  }
  return confirm(cli.io, `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`}?`)
}

/**
 * The command line with which a client starts the server. It never downloads anything: a configuration with only a package name would run
 * whatever the registry has under that name.
 *
 * - For a client of the user, the command names this very program by absolute paths and gives `--home`, because the client may start it in
 * any folder.
 * - For a client of a project, the configuration file is shared with other machines. If the package is installed in the project, `npx
 * --no-install` runs that copy; otherwise the file names this program by absolute paths too.
 */
function serverFor(client: McpClient, cli: Cli, flags: McpInstallFlags): ServerCommand {
  const { workingFolder } = cli.io
  const home = client.ofProject && flags.home === undefined ? [] : ['--home', homeFor(cli, flags).folder]
  const lens = flags.lens?.flatMap(name => ['--lens', name]) ?? []
  const tools = flags.tools?.flatMap(names => ['--tools', names]) ?? []
  const viewer = flags.viewer === undefined ? [] : ['--viewer', flags.viewer]
  // The server is started with `--detail concise`, because an assistant pays for every token of an answer.
  const args = ['mcp', '--detail', 'concise', ...home, ...lens, ...tools, ...viewer]
  const isInstalled = existsSync(join(workingFolder, 'node_modules/querent/package.json'))
  if (flags.npx === true || (client.ofProject && isInstalled)) {
    const byName = ['--no-install', 'querent', ...args]
    // Windows can start a .cmd file only through its shell.
    const isWindows = process.platform === 'win32'
    return isWindows ? { command: 'cmd', args: ['/c', 'npx', ...byName] } : { command: 'npx', args: byName }
  }
  const here = lastingProgram(process.execPath, process.argv[1] ?? '')
  if (here !== null) return { command: here[0], args: [here[1], ...args] }
  throw new QuerentError(
    'invalid_argument',
    'querent runs from the cache of npx, which may be emptied: a client could not start it later. ' +
      'Install the package in this project or globally, then run `querent mcp install` again',
    { field: 'program', value: process.argv[1] ?? '' },
  )
}

/**
 * Paths of the Node executable and of the script that it runs; null if one of them is unknown or in the cache of npx, which may be emptied
 * at any time.
 */
export function lastingProgram(node: string, script: string): readonly [node: string, script: string] | null {
  return [node, script].every(path => isAbsolute(path) && !/[\\/]_npx[\\/]/.test(path)) ? [node, script] : null
}

function chosen(flags: McpInstallFlags, places: ConfigPlaces): readonly McpClient[] {
  const known = MCP_CLIENTS.map(({ name }) => name)
  const unknown = flags.client?.find(name => !known.includes(name))
  if (unknown !== undefined) throw invalidArgument('--client', unknown, `one of ${known.join(', ')}`)
  const found =
    flags.client === undefined ? clientsFound(places) : MCP_CLIENTS.filter(({ name }) => flags.client?.includes(name))
  if (found.length > 0) return found
  const message = `no MCP client was found on this machine; name one with --client: ${known.join(', ')}`
  throw new QuerentError('invalid_argument', message, { field: '--client', known })
}

/** The lines in which two texts differ, removed lines preceded by `- ` and added lines by `+ `. */
function changedLines(before: string, after: string): string {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let start = 0
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1
  let end = 0
  const most = Math.min(old.length, fresh.length) - start
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1
  const gone = old.slice(start, old.length - end).map(line => `- ${printable(line)}\n`)
  const come = fresh.slice(start, fresh.length - end).map(line => `+ ${printable(line)}\n`)
  return [...gone, ...come].join('')
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}
