/** `status`, `lenses`. */
import { lenses, status } from '../../../ops/admin-ops.ts'
import type { CommonFlags } from '../flags.ts'
import { statusText } from '../render/reports.ts'
import { type Column, markdownTable, textTable } from '../render/table.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

const LENS_COLUMNS: readonly Column<{ readonly name: string; readonly summary: string }>[] = [
  { title: 'LENS', cell: lens => lens.name },
  { title: 'SUMMARY', cell: lens => lens.summary },
]

export async function runStatus(cli: Cli, flags: CommonFlags): Promise<void> {
  const answer = await withSession(cli, flags, {}, session => session.run(status, {}))
  await print(cli, flags, answer, { table: () => statusText(answer) })
}

export async function runLenses(cli: Cli, flags: CommonFlags): Promise<void> {
  const answer = await withSession(cli, flags, {}, session => session.run(lenses, {}))
  await print(cli, flags, answer, {
    table: style => textTable(LENS_COLUMNS, answer.lenses, style),
    md: () => markdownTable(LENS_COLUMNS, answer.lenses),
  })
}
