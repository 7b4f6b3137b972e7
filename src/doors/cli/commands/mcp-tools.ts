/** `mcp --list-tools`: what an agent is offered, and what it costs the agent to read it. */
import type { CommonFlags } from '../flags.ts'
import { markdownTable, textTable } from '../render/table.ts'
import type { Cli, McpToolCost } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'
import { type McpFlags, mcpChoice } from './serve.ts'

const COLUMNS = [
  { title: 'tokens', align: 'right' as const, cell: ({ tokens }: McpToolCost) => String(tokens) },
  { title: 'tool', cell: ({ name }: McpToolCost) => name },
  { title: 'what for', cell: ({ description }: McpToolCost) => description },
]

export async function runListTools(cli: Cli, flags: CommonFlags & McpFlags): Promise<void> {
  const tools = await withSession(cli, flags, {}, ({ engine, catalog }) =>
    cli.doors.listMcpTools(engine, catalog, mcpChoice(flags)),
  )
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const sum = `about ${tokens} tokens in all\n`
  await print(
    cli,
    flags,
    { lenses: flags.lens ?? [], tools, tokens },
    {
      table: style => `${textTable(COLUMNS, tools, style, cli.io.stdout.columns)}${sum}`,
      md: () => `${markdownTable(COLUMNS, tools)}\n${sum}`,
    },
  )
}
