/** `brief`: what an assistant should know of the store before its first question, in few words. */
import { lenses } from '../../../ops/admin-ops.ts'
import { list } from '../../../ops/entry-ops.ts'
import { suggest } from '../../../ops/suggest-op.ts'
import type { CommonFlags } from '../flags.ts'
import { type Brief, briefText } from '../render/brief.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

/** Asked for; how many are named depends on their length. */
const MOST_NAMES = 20

export async function runBrief(cli: Cli, flags: CommonFlags): Promise<void> {
  const brief = await withSession(cli, flags, {}, async session => {
    const newest = await session.run(list, { order: 'updated', limit: 1 })
    const names = await session.run(suggest, { fields: ['collection', 'tag'], limit: MOST_NAMES })
    const ways = await session.run(lenses, {})
    const of = (field: string): Brief['tags'] =>
      names.suggestions.filter(name => name.field === field).map(({ value, count }) => ({ value, count }))
    return {
      entries: newest.total,
      updated_at: newest.items[0]?.updated_at ?? null,
      collections: of('collection'),
      tags: of('tag'),
      lenses: ways.lenses.map(({ name }) => name),
    }
  })
  await print(cli, flags, brief, briefText)
}
