/**
 * The driver: six stages in order, the deadline, the trace. Knows nothing of what the stages do. Retrieval is asked again,
 * deeper, while the page is not full, or not final where an exact answer was wanted.
 */
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { Rounds } from './rounds.ts'
import type { Answer, Plan, Retrieval, Scoring, Stages } from './stage.ts'
import { mustHaveTime, mustNotBeCancelled } from './time-limit.ts'

/**
 * Rejects with what the stages throw, with `deadline_exceeded` when time is up before anything was retrieved, and with
 * `cancelled` when the caller says stop. Later than that it returns what there is, and `coverage.complete` says so.
 */
export async function runQuery(stages: Stages, context: QueryContext): Promise<Answer> {
  const { query } = context
  mustHaveTime(context)
  const parsed = await timed(
    'parse',
    context,
    () => stages.parse(query, context),
    plan => plan.terms.length,
  )
  mustHaveTime(context)
  const plan = await timed(
    'enrich',
    context,
    () => stages.enrich(parsed, context),
    enriched => enriched.terms.length,
  )
  const rounds = new Rounds(stages, plan, context)
  for (;;) {
    mustNotBeCancelled(context)
    const attempt = await retrieveAndRank(stages, plan, rounds, context)
    if (isFinal(attempt, query)) return finished(attempt.answer, query, context, true)
    if (context.deadline.over) return finished(attempt.answer, query, context, false)
  }
}

interface Attempt {
  readonly retrieval: Retrieval
  readonly scoring: Scoring
  readonly answer: Answer
}

async function retrieveAndRank(stages: Stages, plan: Plan, rounds: Rounds, context: QueryContext): Promise<Attempt> {
  const retrieval = await timed(
    'retrieve',
    context,
    () => rounds.next(),
    found => found.candidates.length,
  )
  const scoring = await timed(
    'score',
    context,
    () => rounds.mark(stages.score(retrieval, plan, context)),
    scored => scored.scored.length,
  )
  const ranking = await timed(
    'diversify',
    context,
    () => stages.diversify(scoring, plan, context),
    ranked => ranked.ranked.length,
  )
  const answer = await timed(
    'present',
    context,
    () => stages.present(ranking, retrieval, plan, context),
    presented => presented.page.items.length,
  )
  return { retrieval, scoring, answer }
}

/** Nothing deeper could change the page. */
function isFinal({ retrieval, scoring, answer }: Attempt, query: Query): boolean {
  if (retrieval.exhausted || scoring.isWhole === true || !retrieval.complete) return true
  if (scoring.verdict === 'nothing_relevant' && !query.any) return true
  if (answer.page.items.length < query.limit || answer.page.cursor === null) return false
  return scoring.ceiling === null || (answer.last !== null && answer.last > scoring.ceiling)
}

function finished(answer: Answer, query: Query, context: QueryContext, complete: boolean): Answer {
  const { page } = answer
  const coverage = complete ? page.coverage : { ...page.coverage, complete: false }
  const traced = query.trace ? { trace: context.trace.stages } : {}
  return { ...answer, page: { ...page, coverage, ...traced } }
}

async function timed<T>(
  stage: string,
  context: QueryContext,
  work: () => T | Promise<T>,
  out: (result: T) => number,
): Promise<T> {
  const started = performance.now()
  const result = await work()
  context.trace.add(stage, performance.now() - started, out(result))
  return result
}
