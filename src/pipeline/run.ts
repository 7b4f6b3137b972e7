/**
 * The driver: six stages in order, the deadline, the trace. Knows nothing of what the stages do. Retrieval is asked again,
 * deeper, while the page is not full, or not final where an exact answer was wanted.
 */

import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { DEEPER, firstDepth } from './page-depth.ts'
import { byGroup } from './passage.ts'
import { isBetter, mayBeMisspelt } from './respell.ts'
import type { Answer, Plan, Ranking, Retrieval, Stages } from './stage.ts'
import { assertNotCancelled, assertTimeLeft } from './time-limit.ts'

/**
 * Rejects with what the stages throw, with `deadline_exceeded` when time is up before anything was retrieved, and with
 * `cancelled` when the caller says stop. Later than that it returns what there is, and `coverage.complete` says so.
 */
export async function runQuery(stages: Stages, context: QueryContext): Promise<Answer> {
  return (await beginAnswer(stages, context, context.query.limit)).answer
}

/** An answer, and the order that it is the beginning of: for the pieces of a stream. */
export interface Part {
  readonly plan: Plan
  readonly retrieval: Retrieval
  readonly ranking: Ranking
  readonly answer: Answer
}

/**
 * The first `limit` items from where the query begins, found as for a page of the query's limit. Where the query is not answered as
 * written, its nearest spelling is asked, and taken where that is.
 */
export async function beginAnswer(stages: Stages, context: QueryContext, limit: number): Promise<Part> {
  assertTimeLeft(context)
  const first = await runText(context.query.text, stages, context, limit)
  const { verdict } = first.answer.page
  if (!mayBeMisspelt(verdict, first.plan, first.retrieval.statistics) || context.deadline.over) return first
  const text = stages.respell ? await context.turns.run(stages.respell(first.plan, context)) : null
  if (text === null) return first
  const again = await runText(text, stages, context, limit)
  return isBetter(again.answer.page.verdict, verdict, first.plan) ? again : first
}

/**
 * The next `limit` items of an order that was begun, checked and shown as they are now; the query goes on behind the items before. Where
 * too few of that order are left, the query is run again from there.
 */
export async function continueAnswer(
  { plan, retrieval, ranking, answer: before }: Part,
  stages: Stages,
  context: QueryContext,
  limit: number,
): Promise<Part> {
  assertTimeLeft(context)
  const last = before.ranked.at(-1)
  const passed = last === undefined ? 0 : ranking.ranked.indexOf(last) + 1
  const rest: Ranking = { ...ranking, ranked: ranking.ranked.slice(passed), isRest: true }
  const present = stages.present(rest, retrieval, { ...plan, query: { ...context.query, limit } }, context)
  const answer = await context.turns.run(present)
  const part = { plan, retrieval, ranking: rest, answer }
  // Of a spread order no more was chosen than was to be shown.
  const isCut = plan.query.diversity < 1 && answer.isLast
  return isFinal(part, limit, context.query) && !isCut ? part : beginAnswer(stages, context, limit)
}

async function runText(text: string, stages: Stages, context: QueryContext, limit: number): Promise<Part> {
  const isRespelled = text !== context.query.text
  const query: Query = isRespelled ? { ...context.query, text } : context.query
  const asWritten = await timed(
    'parse',
    context,
    () => stages.parse(query, context),
    plan => plan.terms.length,
  )
  const parsed: Plan = isRespelled ? { ...asWritten, respelled: true } : asWritten
  await context.turns.pauseIfDue()
  assertTimeLeft(context)
  const plan = await timed(
    'enrich',
    context,
    () => stages.enrich(parsed, context),
    enriched => enriched.terms.length,
  )
  for (let depth = firstDepth(context.query); ; depth *= DEEPER) {
    assertNotCancelled(context)
    const part = await retrieveAndRank(stages, plan, depth, limit, context)
    const isDone = isFinal(part, limit, query)
    if (isDone || context.deadline.over) return { ...part, answer: finished(part.answer, query, context, isDone) }
  }
}

async function retrieveAndRank(
  stages: Stages,
  plan: Plan,
  depth: number,
  limit: number,
  context: QueryContext,
): Promise<Part> {
  const brought = await timed(
    'retrieve',
    context,
    async () => asOfFirst(await stages.retrieve(plan, depth, context), context),
    found => found.candidates.length,
  )
  await context.turns.pauseIfDue()
  const scored = await timed(
    'score',
    context,
    () => stages.score(brought, plan, context),
    ({ scored }) => scored.length,
  )
  await context.turns.pauseIfDue()
  const { scoring, retrieval } =
    plan.query.group === 'entry'
      ? { scoring: scored, retrieval: brought }
      : await timed(
          'passages',
          context,
          () => byGroup(scored, brought, plan, context),
          found => found.scoring.scored.length,
        )
  const ranking = await timed(
    'diversify',
    context,
    () => context.turns.run(stages.diversify(scoring, plan, context)),
    ranked => ranked.ranked.length,
  )
  const answer = await timed(
    'present',
    context,
    () => context.turns.run(stages.present(ranking, retrieval, { ...plan, query: { ...plan.query, limit } }, context)),
    presented => presented.page.items.length,
  )
  return { plan, retrieval, ranking, answer }
}

/** Of a later page: without what came or was changed since the first one was asked for. */
function asOfFirst(retrieval: Retrieval, { query, memo, reader }: QueryContext): Retrieval {
  const { candidates } = retrieval
  if (query.after === null) return retrieval
  const entries = candidates.map(({ entry }) => entry)
  const known = memo.identities(reader, entries).filter(({ knownAt }) => knownAt <= query.begun)
  const isKnown = new Set(known.map(({ key }) => key))
  return { ...retrieval, candidates: candidates.filter(({ entry }) => isKnown.has(entry)) }
}

/** Nothing deeper could change the page. */
function isFinal({ retrieval, ranking: { scoring }, answer }: Part, limit: number, query: Query): boolean {
  if (retrieval.exhausted || scoring.isWhole === true || !retrieval.complete) return true
  if (scoring.verdict === 'nothing_relevant' && !query.any) return true
  if (answer.ranked.length < limit || answer.isLast) return false
  return scoring.ceiling === null || (answer.last !== null && answer.last > scoring.ceiling)
}

function finished(answer: Answer, query: Query, context: QueryContext, complete: boolean): Answer {
  if (complete && !query.trace) return answer
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
