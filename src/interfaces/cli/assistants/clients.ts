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
  client('codex', 'codex', 'config.toml', 'mcp_servers'),
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
  const format = path.endsWith('.toml') ? 'toml' : 'json'
  const file = (places: ConfigPlaces): string => {
    const one = join(folderOf(folder, places), path)
    return name === 'opencode' && existsSync(`${one}c`) ? `${one}c` : one // it reads two names
  }
  return { name, ofProject: folder === 'project', format, key, file, entry }
}

type Folder = 'home' | 'project' | 'applications' | 'config' | 'codex' | 'zed'

/** `applications`: where the platform keeps their settings. */
function folderOf(folder: Folder, places: ConfigPlaces): string {
  const { home, project, platform, env } = places
  switch (folder) {
    case 'home':
      return home
    case 'project':
      return project
    case 'codex':
      return env['CODEX_HOME'] || join(home, '.codex')
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

/** Those whose folder, or for a file of the home or project itself whose file, is there already. */
export function clientsFound(places: ConfigPlaces): readonly McpClient[] {
  return MCP_CLIENTS.filter(client => {
    const file = client.file(places)
    const folder = dirname(file)
    return existsSync(folder === places.home || folder === places.project ? file : folder)
  })
}
