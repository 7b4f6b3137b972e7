/** The official client on a process of ours. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { commandLine, environment } from '../support/command.ts'

export const MCP_ENV = { QUERENT_NOW: '2026-03-01T12:00:00Z', QUERENT_EMBEDDER: 'none' }

export async function overStdio(folder: string, args: readonly string[] = []): Promise<Client> {
  const [command, line] = commandLine(['mcp', ...args])
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const transport = new StdioClientTransport({ command, args: [...line], cwd: folder, env: environment(MCP_ENV) })
  await client.connect(transport)
  return client
}

/** What a tool gave back, in whichever form, or its error. */
export async function ask(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
  if (!isError && structuredContent !== undefined) return structuredContent as Record<string, unknown>
  const texts = content.flatMap(block => (block.type === 'text' ? [block.text] : []))
  return JSON.parse(texts.find(text => text.startsWith('{')) ?? '{}')
}
