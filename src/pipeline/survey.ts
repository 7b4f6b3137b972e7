/** Evaluates a query as a whole instead of page by page, to explain results and to count them. */
import type { Candidate, Ranked, Scored } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Count } from '../model/page.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { Rounds } from './page-depth.ts'
import { byGroup } from './passage.ts'
import { isBetter, mayBeMisspelt } from './respell.ts'
import type { Plan, Ranking, Retrieval, Scoring, Stages } from './stage.ts'
import { lateError } from './time-limit.ts'

/** All results of a query, retrieved deep enough to contain the requested entries, if the query can find them at all. */
export interface Survey {
  readonly plan: Plan
  readonly retrieval: Retrieval
  readonly ranking: Ranking
  /** Entries that the first retrieval found, with the depth at which an ordinary page begins. */
  readonly reached: ReadonlySet<EntryKey>
}

/** The result to be explained: an entry, or one passage of it. Where results are passages, an entry means its best passage. */
export interface Target {
  readonly entry: EntryKey
  readonly passage?: ChunkKey | undefined
}

/**
 * Evaluates a query completely, deep enough to find the `wanted` entries; as for a page, a corrected spelling is tried where the query as
 * written finds no good answer.
 */
export async function survey(stages: Stages, wanted: readonly Target[], context: QueryContext): Promise<Survey> {
  const isFound = ({ candidates, allow, stoodFor }: Retrieval) => {
    const entries = new Set([...candidates.map(candidate => candidate.entry), ...(stoodFor ?? [])])
    return wanted.every(({ entry }) => entries.has(entry) || allow?.has(entry) === false)
  }
  const isMissing = ({ scored }: Scoring) => wanted.some(target => !scored.some(isOf(target)))
  return surveyUntil(isFound, isMissing, stages, context)
}

/** Largest number of results that are counted. */
const MAX_COUNT = 10_000

/**
 * Counts the results on all pages of an answer, by ranking all of them without making items; `exact` is false where a deeper retrieval
 * could find more.
 */
export async function countItems(stages: Stages, context: QueryContext): Promise<Count> {
  const isEnough = ({ candidates }: Retrieval) => candidates.length >= MAX_COUNT
  const { plan, retrieval, ranking } = await surveyUntil(isEnough, () => false, stages, context)
  const { verdict, reason, isWhole } = ranking.scoring
  const isRefused = verdict === 'nothing_relevant' && !plan.query.any
  const isExact = retrieval.exhausted || isWhole === true
  return { count: isRefused ? 0 : ranking.ranked.length, exact: isRefused || isExact, verdict, reason, mode: plan.mode }
}

/**
 * Retrieves deeper until the wanted results are found: `isEnough` accepts the retrieval, and `isMissing` is false for its scoring. Ends
 * earlier where nothing more can be found or time runs out. Tries a corrected spelling like an ordinary query.
 */
async function surveyUntil(
  isEnough: (retrieval: Retrieval) => boolean,
  isMissing: (scoring: Scoring) => boolean,
  stages: Stages,
  context: QueryContext,
): Promise<Survey> {
  const ask = (text: string) => surveyText(text, stages, isEnough, isMissing, context)
  const first = await ask(context.query.text)
  const { verdict } = first.ranking.scoring
  if (!mayBeMisspelt(verdict, first.plan, first.retrieval.statistics)) return first
  const text = stages.respell ? await context.turns.run(stages.respell(first.plan, context)) : null
  if (text === null) return first
  const again = await ask(text)
  return isBetter(again.ranking.scoring.verdict, verdict, first.plan) ? again : first
}

async function surveyText(
  text: string,
  stages: Stages,
  isEnough: (retrieval: Retrieval) => boolean,
  isMissing: (scoring: Scoring) => boolean,
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
    reached ??= new Set(brought.candidates.map(candidate => candidate.entry))
    if (isEnough(brought) || brought.exhausted || context.deadline.over) {
      await context.turns.pauseIfDue()
      const byEntry = rounds.marker(await stages.score(brought, plan, context))
      await context.turns.pauseIfDue()
      const { scoring, retrieval, isCut } = await byGroup(byEntry, brought, plan, context)
      if (isCut && isMissing(scoring) && !context.deadline.over) continue
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
