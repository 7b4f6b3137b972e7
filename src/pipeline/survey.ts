/** Asks a question as a whole, without pages: what explanations look at. */
import type { Ranked, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { firstDepth } from './page-bounds.ts'
import type { Plan, Ranking, Retrieval, Stages } from './stage.ts'

/** The whole answer, without pages, deep enough to hold the entries asked about, if they can be reached at all. */
export interface Survey {
  readonly plan: Plan
  readonly retrieval: Retrieval
  readonly ranking: Ranking
  /** Candidates of the depth that the page itself would have used. */
  readonly reached: ReadonlySet<EntryKey>
}

export async function survey(stages: Stages, wanted: readonly EntryKey[], context: QueryContext): Promise<Survey> {
  const { query } = context
  const whole: Query = { ...query, limit: Number.MAX_SAFE_INTEGER, after: null }
  const plan = await stages.enrich(stages.parse(whole, context), context)
  let depth = firstDepth(query)
  let reached: ReadonlySet<EntryKey> | null = null
  for (;;) {
    const retrieval = await stages.retrieve(plan, depth, context)
    const entries = new Set(retrieval.candidates.map(candidate => candidate.entry))
    reached ??= entries
    const isEnough = wanted.every(entry => entries.has(entry) || retrieval.allow?.has(entry) === false)
    if (isEnough || retrieval.exhausted || context.deadline.over) {
      const ranking = stages.diversify(stages.score(retrieval, plan, context), plan, context)
      return { plan, retrieval, ranking, reached }
    }
    depth *= 4
  }
}

export function rankedOf(entry: EntryKey, { ranking }: Survey): Ranked | undefined {
  return ranking.ranked.find(ranked => ranked.entry === entry)
}

export function scoredOf(entry: EntryKey, { ranking }: Survey): Scored | undefined {
  return ranking.scoring.scored.find(scored => scored.entry === entry)
}
