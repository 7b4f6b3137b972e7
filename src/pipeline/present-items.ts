/** Results as every door prints them. */
import type { Steps } from '../base/turns.ts'
import type { Ranked } from '../model/candidate.ts'
import type { Chunk, ChunkKey, Entry, EntryKey } from '../model/entry.ts'
import type { Explanation } from '../model/explanation.ts'
import { toIso } from '../model/instant.ts'
import type { Item } from '../model/page.ts'
import type { QueryContext } from './context.ts'
import { toldOrigin } from './disclose.ts'
import { excerpter } from './passage.ts'
import type { Plan, Ranking } from './stage.ts'
import { whyListed, whyRanked } from './why.ts'

export interface Shown {
  readonly ranked: Ranked
  readonly entry: Entry
}

/** An item without its rank, and the entry as it was then. */
export interface MadeItem {
  readonly entry: Entry
  readonly item: Item
}

/**
 * In this order, ranks counting from `first`; a step each. Null: it paused, so that `shown` has to be read again. `made` holds
 * what was made so far, by entry: an item is made again only where its entry was changed since.
 */
export function* presentItems(
  shown: readonly Shown[],
  first: number,
  made: Map<EntryKey, MadeItem>,
  ranking: Ranking,
  plan: Plan,
  context: QueryContext,
): Steps<readonly Item[] | null> {
  let paused = false
  const chunkOf = chunksToShow(shown, context)
  const excerptOf = excerpter(plan, context)
  const { explain, why } = ranking.scoring
  for (const { entry, ranked } of shown) {
    const before = made.get(entry.key)?.entry
    if (before !== undefined && isSame(before, entry)) continue
    const explanation = plan.query.explain || why === undefined ? explain(ranked) : null
    const item: Item = {
      rank: 0,
      id: entry.id,
      holder: entry.audience.holder,
      collection: entry.collection,
      kind: entry.kind,
      title: entry.title,
      score: ranked.score,
      components: ranked.components,
      excerpt: excerptOf(entry, chunkOf(entry, ranked)),
      tags: entry.tags,
      metadata: entry.metadata,
      origin: toldOrigin(entry, context.sight.viewer, context.reader),
      created_at: toIso(entry.createdAt),
      updated_at: toIso(entry.updatedAt),
      source: ranked.source,
      why: plan.mode === 'list' ? whyListed(entry) : (why?.(ranked) ?? whyRanked(explanation as Explanation)),
    }
    made.set(entry.key, {
      entry,
      item: plan.query.explain && explanation !== null ? { ...item, explanation } : item,
    })
    if (yield) paused = true
  }
  if (paused) return null
  return shown.map(({ entry }, at) => ({ ...(made.get(entry.key) as MadeItem).item, rank: first + at }))
}

/** Of the same key: whether nothing of it was changed. */
function isSame(before: Entry, now: Entry): boolean {
  const head = (entry: Entry) => JSON.stringify({ ...entry, content: '' })
  return before.contentHash === now.contentHash && head(before) === head(now)
}

/** The best chunk of the leg that gave most to the score; the first chunk where no leg found one, or it is gone. */
function chunksToShow(
  shown: readonly Shown[],
  { reader }: QueryContext,
): (entry: Entry, ranked: Ranked) => Chunk | undefined {
  const wanted = shown.map(({ ranked }) => bestChunk(ranked)).filter(chunk => chunk !== undefined)
  const found = new Map(reader.chunks(wanted).map(chunk => [chunk.key, chunk]))
  return (entry, ranked) => {
    const chunk = found.get(bestChunk(ranked) ?? -1)
    return chunk?.entry === entry.key ? chunk : reader.chunksOf(entry.key)[0]
  }
}

function bestChunk({ chunks, components }: Ranked): ChunkKey | undefined {
  let best: string | undefined
  for (const leg of Object.keys(chunks)) {
    if (best === undefined || (components[leg] ?? 0) > (components[best] ?? 0)) best = leg
  }
  return best === undefined ? undefined : chunks[best]
}
