/** The server's entry in the configuration of every client, by processes on files of a home made for the test. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parse as parseJson } from 'jsonc-parser'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lastingProgram, MCP_CLIENTS } from '../../src/interfaces/cli/commands/mcp-install.ts'
import { commandLine, querent, type Run } from '../support/command.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** On Linux; below the home, or with `./` in the project. */
const FILES: Readonly<Record<string, string>> = {
  'claude-code': './.mcp.json',
  'claude-code-user': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  cursor: '.cursor/mcp.json',
  'cursor-project': './.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  'vscode-project': './.vscode/mcp.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  gemini: '.gemini/settings.json',
  'gemini-project': './.gemini/settings.json',
  opencode: '.config/opencode/opencode.json',
  zed: '.config/zed/settings.json',
}
const ALL = Object.keys(FILES)
/** Node and the program that the tests run. */
const here = commandLine([])

let home = ''
let project = ''
let store = ''
const run = (...args: readonly string[]): Promise<Run> =>
  querent(['mcp', ...args], { cwd: project, env: { HOME: home } })
const clients = (...names: readonly string[]): readonly string[] => names.flatMap(name => ['--client', name])
const place = (name: string): string => {
  const file = FILES[name] ?? ''
  return file.startsWith('./') ? join(project, file) : join(home, file)
}
const textOf = (name: string): string => readFileSync(place(name), 'utf8')
function give(name: string, text: string): void {
  mkdirSync(dirname(place(name)), { recursive: true })
  writeFileSync(place(name), text)
}

describe.skipIf(process.platform !== 'linux')('querent mcp install', () => {
  const made = tempFolder()
  beforeAll(() => querent(['init'], { cwd: made.path }))
  afterAll(() => made[Symbol.dispose]())
  beforeEach(context => {
    const folder = tempFolder()
    context.onTestFinished(() => folder[Symbol.dispose]())
    home = join(folder.path, 'home')
    project = join(folder.path, 'home', 'project')
    store = join(project, '.querent')
    mkdirSync(project, { recursive: true })
    cpSync(join(made.path, '.querent'), store, { recursive: true })
  })

  it('knows the clients of this table', () => {
    expect(MCP_CLIENTS.map(({ name }) => name)).toEqual(ALL)
  })

  it.each([
    ['darwin', {}, '/h/Library/Application Support/Claude/claude_desktop_config.json', '/h/.config/zed/settings.json'],
    ['win32', { APPDATA: '/r' }, '/r/Claude/claude_desktop_config.json', '/r/Zed/settings.json'],
    ['win32', {}, '/h/AppData/Roaming/Claude/claude_desktop_config.json', '/h/AppData/Roaming/Zed/settings.json'],
    ['linux', { XDG_CONFIG_HOME: '/x' }, '/x/Claude/claude_desktop_config.json', '/x/zed/settings.json'],
  ])('finds the files of %s with %o', (platform, env, desktop, zed) => {
    const places = { home: '/h', project: '/p', platform, env }
    const fileOf = (client: string) => MCP_CLIENTS.find(({ name }) => name === client)?.file(places)
    expect([fileOf('claude-desktop'), fileOf('zed')]).toEqual([desktop, zed])
    expect([fileOf('cursor'), fileOf('vscode-project')]).toEqual(['/h/.cursor/mcp.json', '/p/.vscode/mcp.json'])
  })

  it('makes the file of every client, again changes nothing, and uninstall takes the entry out', async () => {
    const first = await run('install', ...clients(...ALL), '--yes', '--json')
    expect(first).toMatchObject({ status: 0, stderr: '' })
    const report = JSON.parse(first.stdout).clients as { client: string; path: string; state: string; backup: null }[]
    expect(report).toEqual(ALL.map(client => ({ client, path: place(client), state: 'written', backup: null })))
    for (const { name, key, ofProject } of MCP_CLIENTS) {
      const { command, args = [], ...more } = parseJson(textOf(name))[key].querent
      const all = [command, args].flat()
      const program = [here[0], ...here[1], 'mcp', '--detail', 'concise']
      expect(all, name).toEqual(ofProject ? program : [...program, '--home', store])
      expect(more, name).toEqual(SHAPES[name] ?? {})
      expect(statSync(place(name)).mode & 0o077, name).toBe(0)
    }
    const before = ALL.map(textOf)
    const again = await run('install', ...clients(...ALL), '--yes')
    expect(again.stdout.match(/^unchanged/gm)).toHaveLength(ALL.length)
    expect(ALL.map(textOf)).toEqual(before)
    expect(readdirSync(join(home, '.cursor'))).toEqual(['mcp.json'])
    expect((await run('uninstall', '--yes')).status).toBe(0)
    expect(ALL.filter(name => textOf(name).includes('querent'))).toEqual([])
  })

  it('says that the server cannot start where the project has no store yet', async () => {
    rmSync(store, { recursive: true })
    const { status, stderr } = await run('install', ...clients('claude-code'), '--yes')
    expect(status).toBe(0)
    expect(stderr).toContain(
      `The server cannot start yet: home: no .querent in ${project} or above it; run \`querent init\``,
    )
  })

  it('keeps every other byte, comments and all, and the file as it was as a backup', async () => {
    const json = '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"x": { "command": "y" }, // last\r\n\t},\r\n}\r\n'
    give('gemini', json)
    const gemini = clients('gemini')
    expect(await run('install', ...gemini, '--yes', '--lens', 'context')).toMatchObject({ status: 0 })
    expect(textOf('gemini').replace(/,\r\n\t\t"querent": \{[^}]*\}/, '')).toBe(json)
    expect(readFileSync(`${place('gemini')}.querent-backup`, 'utf8')).toBe(json)
    await run('install', ...gemini, '--yes', '--viewer', 'ana')
    expect(existsSync(`${place('gemini')}.querent-backup-2`)).toBe(true)
    await run('uninstall', ...gemini, '--yes')
    expect(textOf('gemini')).toBe(json)
  })

  it('starts the package that is installed in the project, and never lets npx download one', async () => {
    mkdirSync(join(project, 'node_modules/querent'), { recursive: true })
    writeFileSync(join(project, 'node_modules/querent/package.json'), '{"name": "querent"}')
    expect(await run('install', ...clients('claude-code', 'cursor'), '--yes')).toMatchObject({ status: 0 })
    const entryOf = (client: string): readonly string[] => {
      const { command, args } = parseJson(textOf(client)).mcpServers.querent
      return [command, ...args]
    }
    expect(entryOf('claude-code')).toEqual(['npx', '--no-install', 'querent', 'mcp', '--detail', 'concise'])
    expect(entryOf('cursor')).toEqual([here[0], ...here[1], 'mcp', '--detail', 'concise', '--home', store])
    expect(await run('install', ...clients('cursor'), '--npx', '--yes')).toMatchObject({ status: 0 })
    expect(entryOf('cursor')).toEqual(['npx', '--no-install', 'querent', 'mcp', '--detail', 'concise', '--home', store])
  })

  it.each([
    ['/usr/bin/node', '/usr/local/bin/querent', true],
    ['C:\\node\\node.exe', 'C:\\n\\_npx\\1\\node_modules\\querent\\bin\\querent.js', false],
    ['/usr/bin/node', '/home/a/.npm/_npx/1f/node_modules/.bin/querent', false],
    ['/home/a/.npm/_npx/1f/node_modules/node/bin/node', '/usr/local/bin/querent', false],
    ['/usr/bin/node', '', false],
  ])('starts by %s and %s again: %s', (node, script, stays) => {
    expect(lastingProgram(node, script)).toEqual(stays ? [node, script] : null)
  })

  it('keeps what the user added to the entry', async () => {
    give('cursor', '{"mcpServers": {"querent": {"command": "old", "env": {"QUERENT_EMBEDDER": "none"}}}}')
    expect(await run('install', ...clients('cursor'), '--yes')).toMatchObject({ status: 0 })
    const entry = parseJson(textOf('cursor')).mcpServers.querent
    expect(entry).toMatchObject({ command: here[0], env: { QUERENT_EMBEDDER: 'none' } })
  })

  it('writes nothing without a yes: not with --print, and not where nobody can be asked', async () => {
    const printed = await run('install', ...clients('cursor'), '--print')
    expect(printed.stdout).toMatch(/^\+ {5}"querent": \{$/m)
    expect(printed.stdout).toMatch(/^not written {2}cursor/m)
    const asked = await run('install', ...clients('cursor'))
    expect(asked).toMatchObject({ status: 2, stdout: '' })
    expect(asked.stderr).toContain('--yes: there is no terminal for the confirmation')
    expect(existsSync(place('cursor'))).toBe(false)
  })

  it.each([
    ['cursor', '{\n  "mcpServers": {,\n}\n', '2:18: not JSON'],
    ['cursor', '{"mcpServers": []}', '1:16: mcpServers: expected an object'],
    ['cursor', '[]', '1:1: expected a JSON object'],
  ])('refuses a broken file of %s with its place, and leaves the others as they are: %j', async (name, text, found) => {
    give(name, text)
    const { status, stderr } = await run('install', ...clients('windsurf', name), '--yes')
    expect(status).toBe(2)
    expect(stderr).toContain(`${place(name)}:${found}`)
    expect(textOf(name)).toBe(text)
    expect(existsSync(place('windsurf'))).toBe(false)
  })

  it('refuses what is read-only, and what lies elsewhere', async () => {
    give('cursor', '{}')
    chmodSync(place('cursor'), 0o444)
    expect((await run('install', ...clients('cursor'), '--yes')).stderr).toContain('is read-only')
    expect(textOf('cursor')).toBe('{}')
    using outside = tempFolder()
    symlinkSync(outside.path, join(home, '.gemini'))
    const denied = await run('install', ...clients('gemini'), '--yes', '--json')
    expect(JSON.parse(denied.stdout).error.code).toBe('denied')
    expect(readdirSync(outside.path)).toEqual([])
  })

  it('names the clients there are, and wants a store for a client of the whole home', async () => {
    const unknown = await run('install', '--client', 'notepad', '--yes')
    expect(unknown).toMatchObject({ status: 2 })
    for (const name of ALL) expect(unknown.stderr).toContain(name)
    const nowhere = await querent(['mcp', 'install', ...clients('cursor'), '--yes'], { cwd: home, env: { HOME: home } })
    expect(nowhere.stderr).toContain('no .querent in')
    expect((await run('install', '--yes')).stderr).toContain(
      'no MCP client was found on this machine; name one with --client: ',
    )
  })

  it('writes what starts the server', async () => {
    const started = await querent(['mcp', '--home', store], { cwd: '/', env: { HOME: home } })
    expect(started).toMatchObject({ status: 0, stdout: '' }) // its input has ended
  })
})

const SHAPES: Readonly<Record<string, object>> = {
  'claude-code-user': { type: 'stdio' },
  vscode: { type: 'stdio' },
  'vscode-project': { type: 'stdio' },
  opencode: { type: 'local', enabled: true },
  zed: { source: 'custom' },
}
