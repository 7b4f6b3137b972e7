/** The ways in which the results of several sources become one list (BQ-127 to BQ-129). */
import { compareText } from '../../../base/compare.ts'
import { type MergeStrategy, SCOPE_KINDS } from '../model.ts'
import type { ScoredBelief } from '../ranking/scored.ts'

/** `results` in the total order. */
export function merged(strategy: MergeStrategy, results: readonly ScoredBelief[]): readonly ScoredBelief[] {
  switch (strategy) {
    case 'rerank':
      return results
    case 'interleave':
      return interleaved(bySource(results))
    case 'waterfall':
      return SCOPE_KINDS.flatMap(kind => results.filter(({ source }) => source.kind === kind))
  }
}

/** Local, then federations by id, then network nodes by id, this one first. */
function bySource(results: readonly ScoredBelief[]): readonly (readonly ScoredBelief[])[] {
  const lists = new Map<string, ScoredBelief[]>()
  for (const result of results) {
    const name = nameOf(result)
    const list = lists.get(name)
    if (list === undefined) lists.set(name, [result])
    else list.push(result)
  }
  return [...lists].sort(([a], [b]) => compareText(a, b)).map(([, list]) => list)
}

function nameOf({ source: { kind, id } }: ScoredBelief): string {
  return `${SCOPE_KINDS.indexOf(kind)} ${id ?? ''}`
}

/** The best of each in turn; who has no more is passed over. */
function interleaved(sources: readonly (readonly ScoredBelief[])[]): readonly ScoredBelief[] {
  const longest = Math.max(0, ...sources.map(list => list.length))
  return Array.from({ length: longest }, (_, at) => sources.flatMap(list => list[at] ?? [])).flat()
}
