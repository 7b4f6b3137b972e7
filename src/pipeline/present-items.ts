/** Results as every door prints them. */
import type { Steps } from '../base/turns.ts'
import type { Ranked } from '../model/candidate.ts'
import type { Chunk, Entry, EntryKey } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { Item } from '../model/page.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { toldOrigin } from './disclose.ts'
import { positionOf, shownTexts } from './passage.ts'
import type { Plan, Ranking, Retrieval } from './stage.ts'

export interface Shown {
  readonly ranked: Ranked
  readonly entry: Entry
  /** The passage that it is, where passages are ranked. */
  readonly chunk: Chunk | null
}

/** An item without its rank, and the entry as it was then. */
export interface MadeItem {
  readonly entry: Entry
  readonly item: Item
}

/**
 * In this order, ranks counting from `first`; a step each. Null: it paused, so that `shown` has to be read again. `made` holds
 * what was made so far, by place in the order: an item is made again only where its entry was changed since.
 */
export function* presentItems(
  shown: readonly Shown[],
  first: number,
  made: Map<Ranked, MadeItem>,
  ranking: Ranking,
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Steps<readonly Item[] | null> {
  let paused = false
  const textOf = shownTexts(
    shown.map(({ ranked }) => ranked),
    ranking,
    retrieval,
    plan,
    context,
  )
  const { explain, components, why } = ranking.scoring
  for (const { entry, ranked, chunk } of shown) {
    const before = made.get(ranked)?.entry
    if (before !== undefined && isSame(before, entry)) continue
    const item: Item = {
      rank: 0,
      id: entry.id,
      holder: entry.audience.holder,
      ...(chunk !== null && { passage: positionOf(chunk) }),
      collection: entry.collection,
      kind: entry.kind,
      title: entry.title,
      score: ranked.score,
      components: components(ranked),
      ...textOf(entry, ranked),
      tags: entry.tags,
      metadata: entry.metadata,
      origin: toldOrigin(entry, context.sight.viewer, context.reader),
      created_at: toIso(entry.createdAt),
      updated_at: toIso(entry.updatedAt),
      source: ranked.source,
      ...(ranked.related !== undefined && { related_ids: visibleIds(ranked.related, context) }),
      why: plan.mode === 'list' ? whyListed(entry) : why(ranked),
    }
    made.set(ranked, {
      entry,
      item: plan.query.explain ? { ...item, explanation: explain(ranked) } : item,
    })
    if (yield) paused = true
  }
  if (paused) return null
  return shown.map(({ ranked }, at) => ({ ...(made.get(ranked) as MadeItem).item, rank: first + at }))
}

export function whyListed(entry: Entry): string {
  return `fulfils the conditions; changed ${toIso(entry.updatedAt).slice(0, 10)}`
}

function visibleIds(keys: readonly EntryKey[], context: QueryContext): readonly string[] {
  const sight = context.look()
  return context.reader.entries(keys).flatMap(entry => (stillVisible(entry, sight) ? [entry.id] : []))
}

/** Of the same key: whether nothing of it was changed. */
function isSame(before: Entry, now: Entry): boolean {
  const head = (entry: Entry) => JSON.stringify({ ...entry, content: '' })
  return before.contentHash === now.contentHash && head(before) === head(now)
}
