/** `mcp install`, `mcp uninstall`: the server's entry in the configuration of programs that start MCP servers. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Command } from 'commander'
import { printable } from '../../../base/printable.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import {
  type ConfigPlaces,
  clientsFound,
  MCP_CLIENTS,
  type McpClient,
  type ServerCommand,
} from '../assistants/clients.ts'
import { editJson, editToml } from '../assistants/config-edit.ts'
import { assertWritable, type ConfigFile, readConfig, replaceConfig } from '../assistants/config-file.ts'
import { confirm } from '../confirm.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { write } from '../io.ts'
import { each } from '../render/answer.ts'
import type { Cli } from '../run.ts'
import { homeFor } from '../session.ts'
import { print } from './print.ts'

export interface McpInstallFlags extends CommonFlags {
  readonly client?: readonly string[]
  readonly lens?: readonly string[]
  readonly tools?: readonly string[]
  readonly print?: true
  /** Start the installed package by `npx --no-install`, in every file. */
  readonly npx?: true
  readonly yes?: true
}

interface Change {
  readonly client: string
  readonly file: ConfigFile
  readonly after: string
}

/** Reads every file before it writes one: a broken one among them leaves all as they are. */
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
    const after = isAbsent ? before : client.format === 'json' ? editJson(before, edit) : editToml(before, edit)
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
}

async function mayWrite(cli: Cli, flags: McpInstallFlags, changes: readonly Change[]): Promise<boolean> {
  for (const { file } of changes) await assertWritable(file)
  if (flags.yes === true) return true
  if (cli.io.stdin.isTTY !== true || cli.io.stderr.isTTY !== true) {
    const message = '--yes: there is no terminal to ask at; add --yes to write, or --print to see what would change'
    throw new QuerentError('invalid_argument', message, { field: '--yes' })
  }
  return confirm(cli.io, `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`}?`)
}

/**
 * The command that a client runs. It never downloads anything: a package name in a configuration file would run whatever
 * the registry holds under that name.
 *
 * - A user's client starts this very program by absolute paths, with `--home`, because it starts in any folder.
 * - A project's file is shared with other machines. Where the project has the package installed, `npx --no-install` runs
 *   that copy; elsewhere the file names this program as well.
 */
function serverFor(client: McpClient, cli: Cli, flags: McpInstallFlags): ServerCommand {
  const { workingFolder } = cli.io
  const home = client.ofProject && flags.home === undefined ? [] : ['--home', homeFor(cli, flags).folder]
  const lens = flags.lens?.flatMap(name => ['--lens', name]) ?? []
  const tools = flags.tools?.flatMap(names => ['--tools', names]) ?? []
  const viewer = flags.viewer === undefined ? [] : ['--viewer', flags.viewer]
  // An assistant pays for every token of an answer.
  const args = ['mcp', '--detail', 'concise', ...home, ...lens, ...tools, ...viewer]
  const isInstalled = existsSync(join(workingFolder, 'node_modules/querent/package.json'))
  if (flags.npx === true || (client.ofProject && isInstalled)) {
    const byName = ['--no-install', 'querent', ...args]
    // Windows starts no .cmd file without its shell.
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

/** Node and the script it runs; null where one is in the cache of npx, which may be emptied, or is not known. */
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

/** `- ` before what goes, `+ ` before what comes. */
export function changedLines(before: string, after: string): string {
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
