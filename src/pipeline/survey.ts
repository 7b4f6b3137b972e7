/** Asks a question as a whole, without pages: what explanations look at. */
import type { Ranked, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { isBetter, mayBeMisspelt } from './respell.ts'
import { Rounds } from './rounds.ts'
import type { Plan, Ranking, Retrieval, Stages } from './stage.ts'
import { lateError } from './time-limit.ts'

/** The whole answer, without pages, deep enough to hold the entries asked about, if they can be reached at all. */
export interface Survey {
  readonly plan: Plan
  readonly retrieval: Retrieval
  readonly ranking: Ranking
  /** Candidates of the rounds that the page itself begins with. */
  readonly reached: ReadonlySet<EntryKey>
}

/** As a page is found: where the text finds nothing, its nearest spelling is asked. */
export async function survey(stages: Stages, wanted: readonly EntryKey[], context: QueryContext): Promise<Survey> {
  const first = await surveyText(context.query.text, stages, wanted, context)
  const { verdict } = first.ranking.scoring
  if (!mayBeMisspelt(verdict, first.plan, first.retrieval.statistics)) return first
  const text = stages.respell ? await context.turns.run(stages.respell(first.plan, context)) : null
  if (text === null) return first
  const again = await surveyText(text, stages, wanted, context)
  return isBetter(again.ranking.scoring.verdict, verdict, first.plan) ? again : first
}

async function surveyText(
  text: string,
  stages: Stages,
  wanted: readonly EntryKey[],
  context: QueryContext,
): Promise<Survey> {
  const { query } = context
  const whole: Query = { ...query, text, limit: Number.MAX_SAFE_INTEGER, after: null }
  const parsed = stages.parse(whole, context)
  await context.turns.pauseIfDue()
  const plan = await stages.enrich(parsed, context)
  const rounds = new Rounds(stages, plan, context)
  let reached: ReadonlySet<EntryKey> | null = null
  for (;;) {
    const retrieval = await rounds.next()
    const entries = new Set(retrieval.candidates.map(candidate => candidate.entry))
    reached ??= entries
    const isEnough = wanted.every(entry => entries.has(entry) || retrieval.allow?.has(entry) === false)
    if (isEnough || retrieval.exhausted || context.deadline.over) {
      await context.turns.pauseIfDue()
      const scoring = rounds.marker(stages.score(retrieval, plan, context))
      await context.turns.pauseIfDue()
      const ranking = await context.turns.run(stages.diversify(scoring, plan, context))
      if (ranking.complete === false) throw lateError(context)
      return { plan, retrieval, ranking, reached }
    }
  }
}

export function rankedOf(entry: EntryKey, { ranking }: Survey): Ranked | undefined {
  return ranking.ranked.find(ranked => ranked.entry === entry)
}

export function scoredOf(entry: EntryKey, { ranking }: Survey): Scored | undefined {
  return ranking.scoring.scored.find(scored => scored.entry === entry)
}
