/** One result as every door prints it. */
import type { Ranked } from '../model/candidate.ts'
import type { Chunk, Entry } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { Item } from '../model/page.ts'
import type { QueryContext } from './context.ts'
import { excerptOf } from './passage.ts'
import type { Plan, Ranking } from './stage.ts'
import { whyListed, whyRanked } from './why.ts'

export function presentItem(
  entry: Entry,
  ranked: Ranked,
  rank: number,
  ranking: Ranking,
  plan: Plan,
  context: QueryContext,
): Item {
  const explanation = ranking.scoring.explain(ranked)
  const item: Item = {
    rank,
    id: entry.id,
    holder: entry.audience.holder,
    collection: entry.collection,
    kind: entry.kind,
    title: entry.title,
    score: ranked.score,
    components: ranked.components,
    excerpt: excerptOf(entry, chunkToShow(entry, ranked, context), plan),
    tags: entry.tags,
    metadata: entry.metadata,
    origin: entry.origin,
    created_at: toIso(entry.createdAt),
    updated_at: toIso(entry.updatedAt),
    source: ranked.source,
    why: plan.mode === 'list' ? whyListed(entry) : whyRanked(explanation),
  }
  return plan.query.explain ? { ...item, explanation } : item
}

/** The best chunk of the leg that gave most to the score; the first chunk where no leg found one, or it is gone. */
function chunkToShow(entry: Entry, ranked: Ranked, context: QueryContext): Chunk | undefined {
  const legs = Object.keys(ranked.chunks).sort((a, b) => (ranked.components[b] ?? 0) - (ranked.components[a] ?? 0))
  const best = legs[0] === undefined ? undefined : ranked.chunks[legs[0]]
  const chunk = best === undefined ? undefined : context.reader.chunks([best])[0]
  return chunk?.entry === entry.key ? chunk : context.reader.chunksOf(entry.key)[0]
}
