/**
 * Ranking with a profile's own score in it (CQ-080, CQ-099). The nodes come by memory score; as many more are asked for as
 * it takes until none that was not seen could reach the k best even with the highest score of its own.
 */
import type { Viewer } from '../../../model/viewer.ts'
import type { EffectiveQuery } from '../model.ts'
import { CUSTOM_SHARE, type CustomScoring, MEMORY_SHARE } from '../profiles/custom-scoring.ts'
import { retrying } from '../retry.ts'
import type { ChromaState } from '../state.ts'
import { looking } from './look.ts'
import { type Ranked, rowsOf } from './ranked.ts'
import { bestByScore, byPlace, byText } from './search.ts'

/** Nodes asked for first, as a multiple of k; then four times as many each time. */
const FIRST = 3
const MORE = 4

export async function bestByBlend(
  state: ChromaState,
  viewer: Viewer,
  query: EffectiveQuery,
  custom: CustomScoring,
): Promise<readonly Ranked[]> {
  /** By entry: the memory score and what it was blended to. */
  const blends = new Map<number, { readonly memory: number; readonly score: number }>()
  for (let depth = FIRST * query.k; ; depth *= MORE) {
    const seen = await retrying(
      () => looking(state, viewer, look => rowsOf(look, bestByScore(look, query, depth), query.now)),
      state.sleep,
    )
    const ranked: Ranked[] = []
    for (const { entry, row } of seen) {
      const known = blends.get(entry)
      const score = known?.memory === row.score ? known.score : await custom.blend(row)
      blends.set(entry, { memory: row.score, score })
      ranked.push({ entry, row: { ...row, score } })
    }
    ranked.sort((a, b) => byPlace(a.row, b.row) || byText(a.row.entry_id, b.row.entry_id))
    const best = ranked.slice(0, query.k)
    if (seen.length < depth || isFinal(best, seen, query.k)) return stillVisible(state, viewer, best)
  }
}

/** No node behind the last one seen could have a score above that of the k-th. */
function isFinal(best: readonly Ranked[], seen: readonly Ranked[], k: number): boolean {
  const [last, worst] = [seen.at(-1), best[k - 1]]
  if (last === undefined || worst === undefined) return false
  return worst.row.score > MEMORY_SHARE * last.row.score + CUSTOM_SHARE
}

/** Hooks may take their time: what was hidden or deleted meanwhile does not leave. */
function stillVisible({ host }: ChromaState, viewer: Viewer, ranked: readonly Ranked[]): readonly Ranked[] {
  return host.store.read(reader => {
    const { partitions } = host.sight(viewer)
    const entries = reader.entries(ranked.map(({ entry }) => entry))
    const visible = new Set(entries.filter(({ partition }) => partitions.includes(partition)).map(({ key }) => key))
    return ranked.filter(({ entry }) => visible.has(entry))
  })
}
