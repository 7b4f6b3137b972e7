/**
 * Later pages of an answer. Its order is held as the first page found it, so that pages join whatever is written between
 * them: entries stand in it with the scores of then; whether one is still there and visible is looked at when it is shown, and
 * what is shown is its text of now. What came since never comes in. Where it ends, it is asked for deeper.
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
  /** Without the candidates. */
  readonly retrieval: Retrieval
  /** Without the scored ones. */
  readonly scoring: Scoring
  /** Comes before `rest`, and is not shown again. */
  readonly before: readonly Ranked[]
  /** All that was brought and is still to come, best first. */
  readonly rest: readonly Ranked[]
  /** The last retrieval, from 0. */
  readonly round: number
  /** What came later has a higher key. */
  readonly newest: EntryKey
  readonly notes: readonly Note[]
}

/** A page that was ranked from what retrieval brought, not from what was held. */
export interface RankedPage {
  readonly stages: Stages
  readonly plan: Plan
  readonly found: Found
  readonly ranking: Ranking
  readonly round: number
  /** The last item shown. */
  readonly last: ItemKey
  /** Where passages are ranked: all of them, and whether the retrieval can bring no more. */
  readonly passages: { readonly scored: readonly Scored[]; readonly exhausted: boolean } | null
}

/** All that a retrieval brought and its scores, not only what may reach the page. */
interface AllScored {
  readonly all: Retrieval
  readonly scoring: Scoring
}

export interface Found {
  /** To be called first before anything that it is scored by changes; later calls give the same. */
  get(): AllScored
  lasting(): Lasting
  /** What came later than the retrieval has a higher key. */
  readonly newest: EntryKey
}

/** What the score stage returned, where that was a promise; else null, and all is scored when it is needed. */
export interface Late {
  scored: AllScored | null
}

/** `mark`: adds the retrieval that brought an entry, where there was more than one. */
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
  // Most answers have no later pages.
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
    // The cast: a stage that returned no promise for the page returns none now.
    const scoring = stages.score(all, { ...plan, query: whole.query }, whole) as Scoring
    found = { all, scoring: mark(scoring) }
    return found
  }
  // What brings all there is, is not asked deeper.
  const isAll = retrieval.exhausted && plan.query.group === 'entry'
  return { get, lasting, newest: isAll ? Number.POSITIVE_INFINITY : context.reader.newestEntry() }
}

/** Keeps hold of the candidates only where they cannot be had again; in a function of its own, since closures of one scope share what they keep. */
function bringerOf(retrieval: Retrieval): (context: QueryContext) => Retrieval {
  return retrieval.whole ?? (() => retrieval)
}

/**
 * Makes the whole order of a page: pages are ranked no further than they show. To be called before anything that was
 * ranked by changes; the longer after the page, the less it costs those who never ask for more.
 */
export function orderLater(page: RankedPage, context: QueryContext): () => CachedOrder {
  // What the order is made from, and not the page: that would keep its candidates.
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

/** What is kept of a retrieval: sets of entries can be large. */
function numbersOf({ depth, statistics, exhausted, complete }: Retrieval): Retrieval {
  return { candidates: [], allow: null, depth, statistics, exhausted, complete }
}

/** An entry in an order takes half a kilobyte, so that of a usual answer takes a hundred kilobytes. */
const BOUNDS: CachedBounds = { most: 2_000, bytes: 32 * 1024 * 1024, lifetimeMs: CURSOR_LIFETIME_MS }
const BYTES_EACH = 500
/**
 * Orders that are made whole before indexes change, after which no other can be: all that are held, when they are usual ones.
 * It takes some microseconds for each entry in them, a third of a millisecond for an order: in steps, once.
 */
const SETTLED: CachedBounds = { most: 400, bytes: BOUNDS.bytes, lifetimeMs: Number.POSITIVE_INFINITY }

export interface CachedPage {
  readonly order: LaterOrder
  /** Of its rest, as many were passed. */
  readonly at: number
}

/** An order that may still have to be completed: once, by the first request that needs it. */
export class LaterOrder {
  #make: (() => CachedOrder | null) | null
  #order: CachedOrder | null = null

  constructor(make: () => CachedOrder | null) {
    this.#make = make
  }

  /** Null: it was not made in time, and cannot be made any more as it was. */
  get(): CachedOrder | null {
    const make = this.#make
    this.#make = null
    if (make !== null) this.#order = make()
    return this.#order
  }
}

/**
 * The orders that one engine holds, by the places where pages ended. An order is made whole when its next page is asked for, or
 * just before the indexes change (`settleSome`): most answers have no second page, and pay nothing for it.
 */
export class CachedOrders extends Held<CachedPage> {
  /** Perhaps not whole yet. Whoever still may read the cursor of a page keeps its order. */
  readonly #later: Held<WeakRef<LaterOrder>>
  /** What makes orders whole while the indexes are as they are now, and no longer: it keeps much in memory. */
  #makers = new WeakMap<LaterOrder, () => CachedOrder>()
  #count = 0

  /** `whose`: whom a viewer counts as, where several are one. */
  constructor(whose?: (viewer: string) => string, bounds: CachedBounds = BOUNDS, settled: CachedBounds = SETTLED) {
    super(bounds, whose)
    this.#later = new Held(settled, whose)
  }

  /** An order that `make` makes whole, if it comes to that while the indexes are as they are now; `count` as in `hold`. */
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

  /** `count`: entries in the order, about. */
  override hold(place: string, viewer: string, page: CachedPage, count: number, now: Instant): void {
    super.hold(place, viewer, page, count * BYTES_EACH, now, page.order)
  }

  /** To be called when indexes are about to change, until it returns false: each call makes one order whole. */
  settleSome(): boolean {
    for (const later of this.#later.values()) {
      const order = later.deref()
      // Nobody has its cursor any more.
      if (order === undefined) continue
      try {
        // It is not among the later ones any more.
        order.get()
      } catch {
        // It is not held then; what went wrong is not the business of whoever changes something.
      }
      return true
    }
    this.#later.clear()
    this.#makers = new WeakMap()
    return false
  }
}

/** Longer orders are not held: pages that far down go by the place where the last one ended. */
const LONGEST = 4 * MAX_LIMIT

export interface WentOn {
  readonly answer: Answer
  readonly order: CachedOrder
  /** Of its rest, as many are passed now. */
  readonly at: number
  /** False when time was up first. */
  readonly complete: boolean
}

/** The next `limit` of it behind `at`. Null: it goes on beyond what is held. */
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

/** The order with what one more retrieval brings: as of the same moment, without what has come since. */
async function deeper(
  order: CachedOrder,
  at: number,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<CachedOrder> {
  const { context: lasting, thaw } = lastingContext(context, context.accessScope)
  const inTime = derived(lasting, { deadline: context.deadline })
  // From the beginning: what was changed since may have moved to before the place where a page ended.
  const plan: Plan = { ...order.plan, query: { ...lasting.query, after: null } }
  const round = order.round + 1
  const depth = hasRounds(plan) ? firstDepth(query) * DEEPER ** round : order.retrieval.depth * DEEPER
  const brought = await stages.retrieve(plan, depth, context)
  const known = [...order.before, ...order.rest]
  const [isKnown, ofKnown] = [new Set(known.map(itemKey)), new Set(known.map(({ entry }) => entry))]
  // Of an entry that is known, passages may still be missing.
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
    // In an exact order what is asked deeper may stand before what is still to come.
    rest: isAppended ? all : (inOrder(all, lasting) as readonly Ranked[]),
    round: isCut ? order.round : round,
  }
}

/** What was brought behind what is known, in order. `isCut`: of a spread order as many were chosen as a page needs. */
async function rankBehind(
  known: readonly Ranked[],
  fresh: Scoring,
  plan: Plan,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<{ readonly ranked: readonly Ranked[]; readonly isCut: boolean }> {
  // What was shown counts in its groups, and what comes must be unlike it.
  const isGrouped = query.diversity < 1 || hasCaps(query)
  const scored = isGrouped ? [...known, ...fresh.scored] : fresh.scored
  // As many more as a few pages need: choosing looks at all that was chosen before.
  const enough = { ...query, limit: Math.max(query.limit, LEG_DEPTH), after: { ...NOWHERE, rank: known.length } }
  const wider = derived(context, { query: enough })
  const { ranked: all } = await context.turns.run(stages.diversify({ ...fresh, scored }, plan, wider))
  const isKnown = new Set(known.map(itemKey))
  const ranked = all.filter(one => !isKnown.has(itemKey(one)))
  return { ranked, isCut: query.diversity < 1 && all.length < scored.length && ranked.length > 0 }
}

/** Says of each what was found out when it was brought. */
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
    // They are of one entry.
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
 * The context of a query with something of it replaced. Every member is passed on by hand: an object made with the other as
 * its prototype has a hidden class of its own, and what that names is only freed by a full collection.
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
 * For an order that is completed after its page was shown, without limits of number and time. It sees what the query saw
 * until it thaws; from then on what the viewer may see at the time: explanations are made from it.
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
