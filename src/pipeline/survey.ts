/** Asks a question as a whole, without pages: what explanations look at. */
import type { Candidate, Ranked, Scored } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { byGroup } from './passage.ts'
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

/** What is asked about: an entry, or one passage of it. Where passages are ranked, an entry stands for the best of them. */
export interface Target {
  readonly entry: EntryKey
  readonly passage?: ChunkKey | undefined
}

/** As a page is found: where the text finds nothing, its nearest spelling is asked. */
export async function survey(stages: Stages, wanted: readonly Target[], context: QueryContext): Promise<Survey> {
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
  wanted: readonly Target[],
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
    const brought = await rounds.next()
    const entries = new Set(brought.candidates.map(candidate => candidate.entry))
    reached ??= entries
    const isEnough = wanted.every(({ entry }) => entries.has(entry) || brought.allow?.has(entry) === false)
    if (isEnough || brought.exhausted || context.deadline.over) {
      await context.turns.pauseIfDue()
      const byEntry = rounds.marker(stages.score(brought, plan, context))
      await context.turns.pauseIfDue()
      const { scoring, retrieval, isCut } = await byGroup(byEntry, brought, plan, context)
      const isMissing = (target: Target) => !scoring.scored.some(isOf(target))
      if (isCut && wanted.some(isMissing) && !context.deadline.over) continue
      const ranking = await context.turns.run(stages.diversify(scoring, plan, context))
      if (ranking.complete === false) throw lateError(context)
      return { plan, retrieval, ranking, reached }
    }
  }
}

export function rankedOf(target: Target, { ranking }: Survey): Ranked | undefined {
  return ranking.ranked.find(isOf(target))
}

export function scoredOf(target: Target, survey: Survey): Scored | undefined {
  return rankedOf(target, survey) ?? survey.ranking.scoring.scored.find(isOf(target))
}

function isOf({ entry, passage }: Target): (one: Candidate) => boolean {
  return one => one.entry === entry && (passage === undefined || one.passage === passage)
}
