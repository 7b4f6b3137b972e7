/** `get`, `list`, `delete`. */
import type { ListInput } from '../../../engine/engine.ts'
import { get, list, remove } from '../../../ops/entry-ops.ts'
import { type CommonFlags, type FilterFlags, filterOf } from '../flags.ts'
import { entryMarkdown, entryText, listMarkdown, listText } from '../render/entry.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

export async function runGet(cli: Cli, id: string, flags: CommonFlags & { touch: boolean }): Promise<void> {
  const input = { id, ...(!flags.touch && { touch: false }) }
  const entry = await withSession(cli, flags, {}, session => session.run(get, input))
  const { workingFolder } = cli.io
  await print(cli, flags, entry, {
    table: style => entryText(entry, style, workingFolder),
    md: () => entryMarkdown(entry, workingFolder),
  })
}

interface ListFlags extends CommonFlags, FilterFlags {
  readonly limit?: number
  readonly cursor?: string
  readonly order?: NonNullable<ListInput['order']>
}

export async function runList(cli: Cli, flags: ListFlags): Promise<void> {
  const { limit, cursor, order } = flags
  const input: ListInput = { filter: filterOf(flags), limit, cursor, order }
  const page = await withSession(cli, flags, {}, session => session.run(list, input))
  await print(cli, flags, page, {
    table: style => listText(page, style, cli.io.stdout.columns),
    md: () => listMarkdown(page),
  })
}

export async function runDelete(cli: Cli, ids: readonly string[], flags: CommonFlags): Promise<void> {
  const answer = await withSession(cli, flags, {}, session => session.run(remove, { ids }))
  await print(cli, flags, answer, { table: () => `${answer.deleted} deleted\n` })
}
