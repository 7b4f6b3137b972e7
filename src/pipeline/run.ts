/**
 * Driver of the query pipeline: runs its six stages in order, applies the deadline, and records the trace. It does not depend on what the
 * stages do. Retrieval is repeated deeper while the page is not full, or may still change where an exact answer is required. A page that
 * continues a ranked list kept in memory only needs the last stage.
 */

import type { Instant } from '../base/clock.ts'
import type { Query } from '../model/query.ts'
import { changesOrNull } from '../store/feed.ts'
import type { QueryContext } from './context.ts'
import { orderLost, placeOf } from './cursor.ts'
import {
  type CachedOrders,
  type CachedPage,
  type Found,
  foundBy,
  goOn,
  type Late,
  LaterOrder,
  orderLater,
} from './later-pages.ts'
import { hasCaps, hasRounds, Rounds } from './page-depth.ts'
import { byGroup } from './passage.ts'
import { isBetter, mayBeMisspelt } from './respell.ts'
import type { Answer, Plan, Ranking, Retrieval, Scoring, Stages } from './stage.ts'
import { assertNotCancelled, assertTimeLeft } from './time-limit.ts'

/**
 * Runs a query and returns one page. Rejects with errors of the stages, with `deadline_exceeded` when time runs out before anything was
 * retrieved, and with `cancelled` when the caller cancels. When time runs out later, it returns what was found so far, with
 * `coverage.complete` false.
 */
export async function runQuery(
  stages: Stages,
  context: QueryContext,
  held: CachedOrders | null = null,
): Promise<Answer> {
  const { now, query, accessScope } = context
  const { after } = query
  const from = after === null ? null : (held?.find(placeOf(query, after), accessScope.viewer.id, now) ?? null)
  const part = await runPart(stages, context, { held, from, limit: query.limit })
  if (held !== null) holdRest(part, context, held)
  return part.answer
}

/** A part of an answer's results: the first ones, or a continuation. */
export interface Part {
  readonly answer: Answer
  /** Where the next part of the results begins in the ranked list kept in memory; null: the ranked list is not kept. */
  readonly next: CachedPage | null
  /** Approximate number of entries in the order of all results of the answer, by which its memory is estimated. */
  readonly size: number
}

/** Which part of an answer's results is requested, and where ranked lists are kept between requests. */
export interface PartRequest {
  /** The cache of ranked lists; null: the ranked list of this answer is not to be kept. */
  readonly held: CachedOrders | null
  /** The place where the part begins, in a ranked list kept in memory; null: the ranked list is not kept. */
  readonly from: CachedPage | null
  readonly limit: number
}

/**
 * Returns the next `limit` items after the query's cursor; how deep it retrieves depends on the query's own limit. Rejects with
 * `cursor_expired` where the order of the earlier pages is no longer kept in memory and cannot be computed again.
 */
export async function runPart(stages: Stages, context: QueryContext, request: PartRequest): Promise<Part> {
  assertTimeLeft(context)
  const { held, from, limit } = request
  const went = from === null || held === null ? null : await runOn(from, limit, stages, context)
  if (went !== null) return went
  const { after, begun } = context.query
  if (after !== null && changedSince(begun, context)) throw orderLost()
  return runFirst(stages, context, request)
}

/** Keeps the rest of a ranked list, so that a request with the page's cursor continues it. Nothing is kept until the cursor is read. */
export function holdRest({ answer, next, size }: Part, { now, accessScope }: QueryContext, held: CachedOrders): void {
  const { cursor } = answer
  if (cursor === null || next === null) return
  const { id } = accessScope.viewer
  cursor.whenRead(() => held.hold(cursor.place, id, next, size, now))
}

async function runOn(from: CachedPage, limit: number, stages: Stages, context: QueryContext): Promise<Part | null> {
  const order = from.order.get()
  if (order === null) return null
  const went = await timed(
    'held',
    context,
    () => goOn(order, from.at, limit, stages, context),
    found => found?.answer.page.items.length ?? 0,
  )
  if (went === null) return null
  const answer = finished(went.answer, context.query, context, went.complete)
  const next = went.order === order ? from.order : new LaterOrder(() => went.order)
  const size = went.order.before.length + went.order.rest.length
  return { answer, next: went.complete ? { order: next, at: went.at } : null, size }
}

/**
 * Runs a query whose ranked list is not kept. Where the query as written finds no good answer, its nearest spelling is tried, and its
 * answer is used if it is better.
 */
async function runFirst(stages: Stages, context: QueryContext, request: PartRequest): Promise<Part> {
  const first = await runText(context.query.text, stages, context, request)
  const { verdict } = first.part.answer.page
  if (!mayBeMisspelt(verdict, first.plan, first.statistics) || context.deadline.over) return first.part
  const text = stages.respell ? await context.turns.run(stages.respell(first.plan, context)) : null
  if (text === null) return first.part
  const again = await runText(text, stages, context, request)
  return isBetter(again.part.answer.page.verdict, verdict, first.plan) ? again.part : first.part
}

interface Run {
  readonly plan: Plan
  readonly part: Part
  readonly statistics: Retrieval['statistics']
}

async function runText(
  text: string,
  stages: Stages,
  context: QueryContext,
  { held, limit }: PartRequest,
): Promise<Run> {
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
  const rounds = new Rounds(stages, plan, context)
  for (;;) {
    assertNotCancelled(context)
    const attempt = await retrieveAndRank(stages, plan, rounds, limit, context)
    const isDone = isFinal(attempt, limit, query)
    if (!isDone && !context.deadline.over) continue
    const answer = finished(attempt.answer, query, context, isDone)
    const later = isDone && held !== null ? orderOf(attempt, { stages, plan, rounds, context, held }) : null
    const { retrieval } = attempt
    return { plan, part: { answer, next: later, size: sizeOf(attempt) }, statistics: retrieval.statistics }
  }
}

/**
 * Largest number of entries for which the whole diversified list is computed at once, without a pause: about n²/2 dot products, some tens
 * of milliseconds. For more entries, the ranked list is not kept, and later pages are retrieved again.
 */
const MAX_SPREAD = 500

/**
 * Where the next page begins in this answer's ranked list, which is then kept in memory. Null where no page follows, or where it is better
 * to retrieve the next page again than to keep the list.
 */
function orderOf(attempt: Attempt, { stages, plan, rounds, context, held }: Ranker): CachedPage | null {
  const { answer, retrieval, found, scoring, ranking } = attempt
  const last = answer.endKey
  if (last === null || answer.cursor === null) return null
  if (!retrieval.complete || ranking.complete === false) return null
  // In an exact answer, a deeper retrieval may change a diversified order, and one limited per collection or origin, from its beginning. So
  // such an order is kept only where everything was retrieved.
  const isPlain = plan.query.diversity >= 1 && !hasCaps(plan.query)
  if (!isPlain && plan.mode !== 'list' && !hasRounds(plan) && !retrieval.exhausted) return null
  if (plan.query.diversity < 1 && sizeOf(attempt) > MAX_SPREAD) return null
  const passages = plan.query.group === 'passage' ? { scored: scoring.scored, exhausted: retrieval.exhausted } : null
  const page = { stages, plan, found, ranking, round: rounds.last, last, passages }
  return { order: held.later(orderLater(page, context), context.accessScope.viewer.id, sizeOf(attempt)), at: 0 }
}

interface Ranker {
  readonly stages: Stages
  readonly plan: Plan
  readonly rounds: Rounds
  readonly context: QueryContext
  readonly held: CachedOrders
}

function sizeOf({ retrieval: { candidates, depth, whole }, scoring }: Attempt): number {
  return whole === undefined ? Math.max(candidates.length, scoring.scored.length) : 2 * depth
}

interface Attempt {
  readonly retrieval: Retrieval
  readonly found: Found
  readonly scoring: Scoring
  readonly ranking: Ranking
  readonly answer: Answer
}

async function retrieveAndRank(
  stages: Stages,
  plan: Plan,
  rounds: Rounds,
  limit: number,
  context: QueryContext,
): Promise<Attempt> {
  const brought = await timed(
    'retrieve',
    context,
    () => rounds.next(),
    found => found.candidates.length,
  )
  const late: Late = { scored: null }
  const found = foundBy(brought, rounds.marker, late, stages, plan, context)
  // A pause is taken before scoring, since scores, including those of later pages, are computed without one.
  await context.turns.pauseIfDue()
  const scored = await timed(
    'score',
    context,
    () => {
      const scoring = stages.score(brought, plan, context)
      if (!(scoring instanceof Promise)) return rounds.marker(scoring)
      return scoring.then(made => {
        const marked = rounds.marker(made)
        late.scored = { all: brought, scoring: marked }
        return marked
      })
    },
    ({ scored }) => scored.length,
  )
  // All candidates are scored before the next pause, in which other code can write, so that later pages show the state of the first page.
  // This is skipped where all results fit on this page, since then no other page follows.
  const { exhausted, whole, candidates } = brought
  const isAll = exhausted && whole === undefined && plan.query.group === 'entry' && candidates.length <= limit
  if (!isAll) context.turns.beforeNext(found.get)
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
  return { retrieval, found, scoring, ranking, answer }
}

/** Whether a page is final: a deeper retrieval could not change it. */
function isFinal({ retrieval, scoring, answer }: Attempt, limit: number, query: Query): boolean {
  if (retrieval.exhausted || scoring.isWhole === true || !retrieval.complete) return true
  if (scoring.verdict === 'nothing_relevant' && !query.any) return true
  if (answer.ranked.length < limit || answer.cursor === null) return false
  return scoring.ceiling === null || (answer.last !== null && answer.last > scoring.ceiling)
}

function finished(answer: Answer, query: Query, context: QueryContext, complete: boolean): Answer {
  if (complete && !query.trace) return answer
  const { page } = answer
  const coverage = complete ? page.coverage : { ...page.coverage, complete: false }
  const traced = query.trace ? { trace: context.trace } : {}
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
  context.trace.push({ stage, ms: performance.now() - started, out: out(result) })
  return result
}

/** Number of changes of the store's change feed that are read at once. */
const PAGE = 500

/**
 * Whether anything visible to the viewer was written after this time. Also true where the change feed does not reach back far enough to
 * tell. Changes of hidden entries are not considered.
 */
export function changedSince(
  moment: Instant,
  { reader, accessScope }: Pick<QueryContext, 'reader' | 'accessScope'>,
): boolean {
  const visible = new Set(accessScope.partitions)
  for (let end = reader.lastSeq(); end > 0; end -= PAGE) {
    const found = changesOrNull(reader, Math.max(0, end - PAGE), PAGE)
    if (found === null) return true
    const page = found.filter(({ seq }) => seq <= end)
    const seen = page.filter(({ partition, from }) => visible.has(partition) || (from !== null && visible.has(from)))
    if (seen.some(({ at }) => at > moment)) return true
    const oldest = page[0]
    if (oldest === undefined || oldest.at <= moment) return false
    if (oldest.seq === reader.firstSeq()) return oldest.seq > 1
  }
  return false
}
