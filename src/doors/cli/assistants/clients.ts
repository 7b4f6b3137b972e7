/**
 * Programs that start MCP servers: where each keeps its configuration, and how an entry looks there. Paths and shapes are
 * those of the programs' own documentation (November 2026).
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How the server is started. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

export type ConfigEntry = Readonly<Record<string, string | boolean | readonly string[]>>

export interface ConfigPlaces {
  readonly home: string
  readonly project: string
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface McpClient {
  readonly name: string
  /** Read in one project alone, where the server starts: it finds the store itself. */
  readonly ofProject: boolean
  readonly format: 'json' | 'toml'
  /** The object that holds the servers by name. */
  readonly key: string
  file(places: ConfigPlaces): string
  entry(server: ServerCommand): ConfigEntry
}

const plain = ({ command, args }: ServerCommand): ConfigEntry => ({ command, args })
const typed = ({ command, args }: ServerCommand): ConfigEntry => ({ type: 'stdio', command, args })

const JSON_SERVERS = { format: 'json', key: 'mcpServers', entry: plain } as const
const OF_PROJECT = { ...JSON_SERVERS, ofProject: true } as const
const OF_USER = { ...JSON_SERVERS, ofProject: false } as const

export const MCP_CLIENTS: readonly McpClient[] = [
  { ...OF_PROJECT, name: 'claude-code', file: ({ project }) => join(project, '.mcp.json') },
  { ...OF_USER, name: 'claude-code-user', file: ({ home }) => join(home, '.claude.json'), entry: typed },
  {
    ...OF_USER,
    name: 'claude-desktop',
    file: places => join(applicationFolder(places), 'Claude', 'claude_desktop_config.json'),
  },
  { ...OF_USER, name: 'cursor', file: ({ home }) => join(home, '.cursor', 'mcp.json') },
  { ...OF_PROJECT, name: 'cursor-project', file: ({ project }) => join(project, '.cursor', 'mcp.json') },
  {
    ...{ ...OF_USER, key: 'servers', entry: typed, name: 'vscode' },
    file: places => join(applicationFolder(places), 'Code', 'User', 'mcp.json'),
  },
  {
    ...{ ...OF_PROJECT, key: 'servers', entry: typed, name: 'vscode-project' },
    file: ({ project }) => join(project, '.vscode', 'mcp.json'),
  },
  { ...OF_USER, name: 'windsurf', file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json') },
  { ...OF_USER, name: 'gemini', file: ({ home }) => join(home, '.gemini', 'settings.json') },
  { ...OF_PROJECT, name: 'gemini-project', file: ({ project }) => join(project, '.gemini', 'settings.json') },
  {
    ...{ name: 'codex', ofProject: false, format: 'toml', key: 'mcp_servers', entry: plain },
    file: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
  },
  {
    ...{ ...OF_USER, key: 'mcp', name: 'opencode' },
    file: places => withComments(join(dotConfig(places), 'opencode', 'opencode.json')),
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  {
    ...{ ...OF_USER, key: 'context_servers', name: 'zed' },
    file: places =>
      places.platform === 'win32'
        ? join(applicationFolder(places), 'Zed', 'settings.json')
        : join(dotConfig(places), 'zed', 'settings.json'),
    entry: server => ({ source: 'custom', ...plain(server) }),
  },
]

/** Those whose folder, or for a file of the home or project itself whose file, is there already. */
export function clientsFound(places: ConfigPlaces): readonly McpClient[] {
  return MCP_CLIENTS.filter(client => {
    const file = client.file(places)
    const folder = dirname(file)
    return existsSync(folder === places.home || folder === places.project ? file : folder)
  })
}

/** Where the platform keeps the settings of applications. */
function applicationFolder(places: ConfigPlaces): string {
  if (places.platform === 'darwin') return join(places.home, 'Library', 'Application Support')
  if (places.platform === 'win32') return places.env['APPDATA'] || join(places.home, 'AppData', 'Roaming')
  return dotConfig(places)
}

function dotConfig({ home, platform, env }: ConfigPlaces): string {
  const named = platform === 'win32' ? undefined : env['XDG_CONFIG_HOME']
  return named || join(home, '.config')
}

/** Two names are read; the one that is there is taken. */
function withComments(file: string): string {
  return existsSync(`${file}c`) ? `${file}c` : file
}
