/** `mcp --list-tools`: what an agent is offered, and what it costs the agent to read it. */
import type { CommonFlags } from '../flags.ts'
import { markdownTable, textTable } from '../render/table.ts'
import type { Cli, McpToolCost } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

const COLUMNS = [
  { title: 'tokens', align: 'right' as const, cell: ({ tokens }: McpToolCost) => String(tokens) },
  { title: 'tool', cell: ({ name }: McpToolCost) => name },
  { title: 'what for', cell: ({ description }: McpToolCost) => description },
]

export async function runListTools(cli: Cli, flags: CommonFlags & { readonly lens?: string }): Promise<void> {
  const tools = await withSession(cli, flags, {}, ({ engine, catalog }) =>
    cli.doors.listMcpTools(engine, catalog, flags.lens),
  )
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const sum = `${tokens} tokens in all, estimated as a quarter of the bytes\n`
  await print(
    cli,
    flags,
    { lens: flags.lens ?? null, tools, tokens },
    {
      table: style => `${textTable(COLUMNS, tools, style, cli.io.stdout.columns)}${sum}`,
      md: () => `${markdownTable(COLUMNS, tools)}\n${sum}`,
    },
  )
}
