/**
 * Later pages of an answer. Its order is kept as the first page found it, so that pages fit together whatever is written in between:
 * entries keep the scores of that time; whether an entry still exists and is visible is checked when it is shown, and its current text is
 * shown. Entries added since never appear. Where the kept order ends, retrieval goes deeper.
 */

import { Deadline, type Instant } from '../base/clock.ts'
import { atOnce } from '../base/turns.ts'
import { type Candidate, type ItemKey, itemKey, type Ranked, type Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { CURSOR_LIFETIME_MS, LEG_DEPTH, MAX_LIMIT } from '../model/limits.ts'
import type { Note } from '../model/page.ts'
import type { Query } from '../model/query.ts'
import type { AccessScope } from '../model/viewer.ts'
import type { QueryContext } from './context.ts'
import { inOrder } from './diversify.ts'
import { type CachedBounds, Held } from './held.ts'
import { DEEPER, firstDepth, hasCaps, hasRounds, joinedStatistics } from './page-depth.ts'
import { byGroup } from './passage.ts'
import { waitingOf } from './present.ts'
import type { Answer, Plan, Ranking, Retrieval, Scoring, Stages } from './stage.ts'
import { assertNotCancelled } from './time-limit.ts'

export interface CachedOrder {
  readonly plan: Plan
  /** The retrieval without its candidates. */
  readonly retrieval: Retrieval
  /** The scoring of the answer without its scored candidates. */
  readonly scoring: Scoring
  /** Items that come before `rest` and are not shown again. */
  readonly before: readonly Ranked[]
  /** Retrieved items that are still to be shown, best first. */
  readonly rest: readonly Ranked[]
  /** Number of the last retrieval, from 0. */
  readonly round: number
  /** Newest entry key at the time of the retrieval; entries added later have a higher key. */
  readonly newest: EntryKey
  readonly notes: readonly Note[]
}

/** A page that was ranked from a retrieval, not from a kept order. */
export interface RankedPage {
  readonly stages: Stages
  readonly plan: Plan
  readonly found: Found
  readonly ranking: Ranking
  readonly round: number
  /** The last item shown on the page. */
  readonly last: ItemKey
  /** Where passages are ranked: all of them, and whether the retrieval can find no more. */
  readonly passages: { readonly scored: readonly Scored[]; readonly exhausted: boolean } | null
}

/** All candidates of a retrieval with their scores, not only those that may reach the page. */
interface AllScored {
  readonly all: Retrieval
  readonly scoring: Scoring
}

export interface Found {
  /** Must first be called before any data on which the scores depend changes; later calls return the same result. */
  get(): AllScored
  lasting(): Lasting
  /** Newest entry key at the time of the retrieval; entries added later have a higher key. */
  readonly newest: EntryKey
}

/** The result of a score stage that returned a promise; null otherwise, and all candidates are scored when needed. */
export interface Late {
  scored: AllScored | null
}

/** Prepares scoring of all candidates on demand. `mark`: adds the number of the retrieval that found an entry, where there were several. */
export function foundBy(
  retrieval: Retrieval,
  mark: (scoring: Scoring) => Scoring,
  late: Late,
  stages: Stages,
  plan: Plan,
  context: QueryContext,
): Found {
  const bring = bringerOf(retrieval)
  const { accessScope } = context
  let made: Lasting | null = null
  // Made on demand, since most answers have no later pages.
  const lasting = () => {
    made ??= lastingContext(context, accessScope)
    return made
  }
  let found: AllScored | null = null
  const get = () => {
    found ??= late.scored
    if (found !== null) return found
    const whole = lasting().context
    const all = bring(whole)
    // The cast is safe: a stage that returned no promise for the page returns none now.
    const scoring = stages.score(all, { ...plan, query: whole.query }, whole) as Scoring
    found = { all, scoring: mark(scoring) }
    return found
  }
  // A retrieval that has found everything is never repeated deeper.
  const isAll = retrieval.exhausted && plan.query.group === 'entry'
  return { get, lasting, newest: isAll ? Number.POSITIVE_INFINITY : context.reader.newestEntry() }
}

/**
 * Refers to the candidates only where they cannot be retrieved again. A separate function, since closures in one scope share everything
 * they refer to.
 */
function bringerOf(retrieval: Retrieval): (context: QueryContext) => Retrieval {
  return retrieval.whole ?? (() => retrieval)
}

/**
 * A function that completes the order of a page, since pages are ranked only as far as they are shown. Must be called before any data on
 * which the ranking depends changes; the later it is called, the less work is done for requesters who never ask for more.
 */
export function orderLater(page: RankedPage, context: QueryContext): () => CachedOrder {
  // The parts from which the order is made, not the page itself, which would keep its candidates in memory.
  const { stages, plan, round, last, passages } = page
  const { more } = page.ranking
  const { verdict, reason, verdictBy, isWhole } = page.ranking.scoring
  const { get, lasting: lastingOf, newest } = page.found
  const notes = [...context.notes]
  const waiting = waitingOf(page.ranking.ranked, plan, context).map(itemKey)
  const shown = new Set(waiting.slice(0, waiting.indexOf(last) + 1))
  return () => {
    const { context: lasting, thaw } = lastingOf()
    const whole: Plan = { ...plan, query: lasting.query }
    const { all, scoring: byEntry } = get()
    const scoring = passages === null ? byEntry : { ...byEntry, scored: passages.scored, isWhole }
    const ranked = more?.() ?? atOnce(stages.diversify(scoring, whole, lasting)).ranked
    const rest = waitingOf(ranked, whole, lasting).filter(one => !shown.has(itemKey(one)))
    const isRest = new Set(rest.map(itemKey))
    thaw()
    return {
      plan,
      retrieval: { ...numbersOf(all), exhausted: passages?.exhausted ?? all.exhausted },
      scoring: { ...scoring, scored: [], verdict, reason, verdictBy },
      before: ranked.filter(one => !isRest.has(itemKey(one))),
      rest,
      round,
      newest,
      notes,
    }
  }
}

/** The part of a retrieval that is kept, without sets of entries, which can be large. */
function numbersOf({ depth, statistics, exhausted, complete }: Retrieval): Retrieval {
  return { candidates: [], allow: null, depth, statistics, exhausted, complete }
}

/** Limits of the kept orders: an entry in an order takes half a kilobyte, so the order of a typical answer takes a hundred kilobytes. */
const BOUNDS: CachedBounds = { most: 2_000, bytes: 32 * 1024 * 1024, lifetimeMs: CURSOR_LIFETIME_MS }
const BYTES_EACH = 500
/**
 * Limits of the orders that are completed before indexes change, after which it is impossible: enough for all kept orders of typical size.
 * Completing takes some microseconds per entry, a third of a millisecond per order: in steps, once.
 */
const SETTLED: CachedBounds = { most: 400, bytes: BOUNDS.bytes, lifetimeMs: Number.POSITIVE_INFINITY }

export interface CachedPage {
  readonly order: LaterOrder
  /** Number of items of the order's rest that were passed. */
  readonly at: number
}

/** An order that may still have to be completed: once, by the first request that needs it. */
export class LaterOrder {
  #make: (() => CachedOrder | null) | null
  #order: CachedOrder | null = null

  constructor(make: () => CachedOrder | null) {
    this.#make = make
  }

  /** The complete order; null: it was not completed in time, and can no longer be made as it was. */
  get(): CachedOrder | null {
    const make = this.#make
    this.#make = null
    if (make !== null) this.#order = make()
    return this.#order
  }
}

/**
 * The orders that one engine keeps, by the places where pages ended. An order is completed when its next page is requested, or just before
 * the indexes change (`settleSome`): most answers have no second page, and cost nothing.
 */
export class CachedOrders extends Held<CachedPage> {
  /** Orders that may be incomplete. An order is kept alive by those who may still read the cursor of its page. */
  readonly #later: Held<WeakRef<LaterOrder>>
  /** Functions that complete orders while the indexes are unchanged; dropped afterwards, since they keep much data in memory. */
  #makers = new WeakMap<LaterOrder, () => CachedOrder>()
  #count = 0

  /** `whose`: the requester that a viewer counts as, where several viewers are one. */
  constructor(whose?: (viewer: string) => string, bounds: CachedBounds = BOUNDS, settled: CachedBounds = SETTLED) {
    super(bounds, whose)
    this.#later = new Held(settled, whose)
  }

  /** An order that `make` will complete, if it is needed while the indexes are unchanged; `count` as in `hold`. */
  later(make: () => CachedOrder, viewer: string, count: number): LaterOrder {
    const name = String(++this.#count)
    const order = new LaterOrder(() => {
      const known = this.#makers.get(order)
      this.#makers.delete(order)
      this.#later.release(name)
      return known?.() ?? null
    })
    this.#makers.set(order, make)
    this.#later.hold(name, viewer, new WeakRef(order), count * BYTES_EACH, 0)
    return order
  }

  /** `count`: approximate number of entries in the order. */
  override hold(place: string, viewer: string, page: CachedPage, count: number, now: Instant): void {
    super.hold(place, viewer, page, count * BYTES_EACH, now, page.order)
  }

  /** Completes one order. Must be called when indexes are about to change, until it returns false. */
  settleSome(): boolean {
    for (const later of this.#later.values()) {
      const order = later.deref()
      // The order was dropped: nobody has its cursor any more.
      if (order === undefined) continue
      try {
        // Completing an order removes it from `#later`.
        order.get()
      } catch {
        // An order that fails to complete is not kept; the error does not concern the caller, who is changing something else.
      }
      return true
    }
    this.#later.clear()
    this.#makers = new WeakMap()
    return false
  }
}

/** Longest order that is kept; pages further down are found by the place where the last one ended. */
const LONGEST = 4 * MAX_LIMIT

export interface WentOn {
  readonly answer: Answer
  readonly order: CachedOrder
  /** Number of items of the order's rest that are passed now. */
  readonly at: number
  /** False when the time limit passed first. */
  readonly complete: boolean
}

/** The next `limit` items of the order after `at`. Null: the page continues beyond what is kept. */
export async function goOn(
  held: CachedOrder,
  at: number,
  limit: number,
  stages: Stages,
  context: QueryContext,
): Promise<WentOn | null> {
  const query: Query = { ...context.query, limit }
  const asked = derived(context, { notes: held.notes })
  let order = held
  let from = at
  for (;;) {
    assertNotCancelled(context)
    const { plan, rest, retrieval, scoring } = order
    const ranking = { ranked: rest.slice(from), scoring, isRest: true }
    const answer = await context.turns.run(stages.present(ranking, retrieval, { ...plan, query }, asked))
    const isFull = answer.ranked.length === limit && answer.cursor !== null
    const isSure = scoring.ceiling === null || (answer.last !== null && answer.last > scoring.ceiling)
    const isLast = retrieval.exhausted || scoring.isWhole === true
    const complete = isLast || (isFull && isSure)
    if (complete || context.deadline.over) return { answer, order, at: passed(order, from, answer), complete }
    if (order.before.length + rest.length > LONGEST) return null
    order = await deeper(order, from, query, stages, context)
    from = 0
  }
}

function passed({ rest }: CachedOrder, from: number, { endKey }: Answer): number {
  return endKey === null ? rest.length : rest.findIndex((one, at) => at >= from && itemKey(one) === endKey) + 1
}

/** The order extended by one more retrieval, as of the same time, without entries added since. */
async function deeper(
  order: CachedOrder,
  at: number,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<CachedOrder> {
  const { context: lasting, thaw } = lastingContext(context, context.accessScope)
  const inTime = derived(lasting, { deadline: context.deadline })
  // From the beginning, since an entry changed since may now rank before the place where a page ended.
  const plan: Plan = { ...order.plan, query: { ...lasting.query, after: null } }
  const round = order.round + 1
  const depth = hasRounds(plan) ? firstDepth(query) * DEEPER ** round : order.retrieval.depth * DEEPER
  const brought = await stages.retrieve(plan, depth, context)
  const known = [...order.before, ...order.rest]
  const [isKnown, ofKnown] = [new Set(known.map(itemKey)), new Set(known.map(({ entry }) => entry))]
  // Further passages of a known entry may still be missing.
  const isNew = (entry: EntryKey) => query.group === 'passage' || !ofKnown.has(entry)
  const candidates = brought.candidates.filter(({ entry }) => isNew(entry) && entry <= order.newest)
  const statistics = joinedStatistics(order.retrieval, brought)
  const asked: Retrieval = { ...brought, candidates, statistics, isRest: true }
  const { scoring, retrieval } = await byGroup(await stages.score(asked, plan, lasting), asked, plan, inTime)
  thaw()
  const unknown = scoring.scored.filter(one => !isKnown.has(itemKey(one)))
  const fresh = unknown.map((one): Scored => (hasRounds(plan) ? { ...one, round } : one))
  const { ranked, isCut } = await rankBehind(known, { ...scoring, scored: fresh }, plan, query, stages, lasting)
  const all = [...order.rest.slice(at), ...ranked]
  const isAppended = hasRounds(plan) || plan.mode === 'list'
  return {
    ...order,
    retrieval: { ...numbersOf({ ...retrieval, statistics }), exhausted: retrieval.exhausted && !isCut },
    scoring: joined(order.scoring, { ...scoring, isWhole: scoring.isWhole === true && !isCut }, ranked),
    before: [...order.before, ...order.rest.slice(0, at)],
    // In an exact order, items of a deeper retrieval may rank before items still to be shown.
    rest: isAppended ? all : (inOrder(all, lasting) as readonly Ranked[]),
    round: isCut ? order.round : round,
  }
}

/** Ranks newly retrieved items behind the known ones. `isCut`: of a spread order, only as many were chosen as a page needs. */
async function rankBehind(
  known: readonly Ranked[],
  fresh: Scoring,
  plan: Plan,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<{ readonly ranked: readonly Ranked[]; readonly isCut: boolean }> {
  // Shown items count in their groups, and new ones must be unlike them.
  const isGrouped = query.diversity < 1 || hasCaps(query)
  const scored = isGrouped ? [...known, ...fresh.scored] : fresh.scored
  // The number of further items that a few pages need, since each choice compares with everything chosen before.
  const enough = { ...query, limit: Math.max(query.limit, LEG_DEPTH), after: { ...NOWHERE, rank: known.length } }
  const wider = derived(context, { query: enough })
  const { ranked: all } = await context.turns.run(stages.diversify({ ...fresh, scored }, plan, wider))
  const isKnown = new Set(known.map(itemKey))
  const ranked = all.filter(one => !isKnown.has(itemKey(one)))
  return { ranked, isCut: query.diversity < 1 && all.length < scored.length && ranked.length > 0 }
}

/** A scoring that answers for each item from the retrieval that found it. */
function joined(before: Scoring, now: Scoring, ranked: readonly Ranked[]): Scoring {
  const isNew = new Set(ranked.map(itemKey))
  const ofNew = new Set(ranked.map(({ entry }) => entry))
  const [rateBefore, rateNow] = [before.rate, now.rate]
  return {
    ...now,
    scored: [],
    components: scored => (isNew.has(itemKey(scored)) ? now : before).components(scored),
    explain: scored => (isNew.has(itemKey(scored)) ? now : before).explain(scored),
    why: scored => (isNew.has(itemKey(scored)) ? now : before).why(scored),
    // The passages given to `rate` all belong to one entry.
    ...(rateBefore !== undefined &&
      rateNow !== undefined && {
        rate: (passages: readonly Candidate[]) =>
          passages.some(({ entry }) => ofNew.has(entry)) ? rateNow(passages) : rateBefore(passages),
      }),
    verdict: before.verdict,
    reason: before.reason,
    verdictBy: before.verdictBy,
  }
}

const NOWHERE = { order: 0, id: '', holder: '', rank: 0, depth: 0, round: 0, shown: '' }

interface Replaced extends Partial<Pick<QueryContext, 'query' | 'deadline' | 'notes'>> {
  readonly accessScope?: () => AccessScope
}

/**
 * A query's context with some members replaced. Members are copied one by one: an object with the other as its prototype would get a hidden
 * class of its own, whose references are only freed by a full garbage collection.
 */
function derived(of: QueryContext, replaced: Replaced): QueryContext {
  const { now, turns, reader, model, fields, secret, memo, trace } = of
  return {
    query: replaced.query ?? of.query,
    notes: replaced.notes ?? of.notes,
    get accessScope() {
      return replaced.accessScope?.() ?? of.accessScope
    },
    get deadline() {
      return replaced.deadline ?? of.deadline
    },
    // An index may be loaded when it is looked at.
    get words() {
      return of.words
    },
    get vectors() {
      return of.vectors
    },
    ...{ now, turns, reader, model, fields, secret, memo, trace },
    index: name => of.index(name),
    embed: (text, late) => of.embed(text, late),
    look: () => of.look(),
    note: note => of.note(note),
  }
}

/**
 * Context for an order that is completed after its page was shown, without limits of number and time. Until it is thawed it sees what the
 * query saw; afterwards what the viewer may see then, for explanations.
 */
interface Lasting {
  readonly context: QueryContext
  thaw(): void
}

function lastingContext(context: QueryContext, accessScope: AccessScope): Lasting {
  let frozen: AccessScope | null = accessScope
  const lasting = derived(context, {
    query: { ...context.query, limit: Number.MAX_SAFE_INTEGER },
    deadline: new Deadline(Number.POSITIVE_INFINITY),
    accessScope: () => frozen ?? context.look(),
  })
  return {
    context: lasting,
    thaw: () => {
      frozen = null
    },
  }
}
