/** The official client on `querent mcp`. */
import { Client } from '@modelcontextprotocol/client'
import { connectHere } from '../support/in-process.ts'

export const MCP_ENV = { QUERENT_NOW: '2026-03-01T12:00:00Z', QUERENT_EMBEDDER: 'none' }

export async function mcpClient(folder: string, args: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await connectHere(client, args, { cwd: folder, env: MCP_ENV })
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
