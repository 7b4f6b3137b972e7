/** Results as every door prints them. */
import type { Ranked } from '../model/candidate.ts'
import type { Chunk, ChunkKey, Entry } from '../model/entry.ts'
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

/** In this order, ranks counting from `first`. */
export function presentItems(
  shown: readonly Shown[],
  first: number,
  ranking: Ranking,
  plan: Plan,
  context: QueryContext,
): readonly Item[] {
  const chunkOf = chunksToShow(shown, context)
  const excerptOf = excerpter(plan, context)
  return shown.map(({ entry, ranked }, at) => {
    const { explain, why } = ranking.scoring
    const explanation = plan.query.explain || why === undefined ? explain(ranked) : null
    const item: Item = {
      rank: first + at,
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
    return plan.query.explain && explanation !== null ? { ...item, explanation } : item
  })
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
