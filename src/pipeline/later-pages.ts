/**
 * Later pages of an answer. The order of results is kept as the first page computed it, so that pages neither repeat nor skip results
 * whatever is written to the store in between: entries keep the scores of that time, while their existence, visibility and text are read
 * when a page is shown; entries added after the first page never appear. Where the kept ranked list ends, the store is searched again for
 * more candidates.
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
  /** The retrieval from which the ranked list was computed. Its list of candidates is emptied to save memory. */
  readonly retrieval: Retrieval
  /** The scoring from which the ranked list was computed. Its list of scored candidates is emptied to save memory. */
  readonly scoring: Scoring
  /**
   * Results that earlier pages have already shown, or that rank before a shown one; they are not shown again. The results that follow are
   * in `rest`.
   */
  readonly before: readonly Ranked[]
  /** Items of the ranked list that no page has shown yet, best first. */
  readonly rest: readonly Ranked[]
  /** Number of the last retrieval round that contributed to the ranked list, from 0; each round searches deeper than the one before. */
  readonly round: number
  /**
   * Key of the newest entry when the ranked list was retrieved; keys ascend, so an entry with a higher key was added later and is left out.
   */
  readonly newest: EntryKey
  readonly notes: readonly Note[]
}

/** A page whose ranked list was computed from a new retrieval, not taken from a kept ranked list. */
export interface RankedPage {
  readonly stages: Stages
  readonly plan: Plan
  readonly found: Found
  readonly ranking: Ranking
  readonly round: number
  /** The last item shown on the page. */
  readonly last: ItemKey
  /**
   * Where results are passages: all scored passages, and `exhausted`: whether a deeper retrieval can find no more. Null where results are
   * entries.
   */
  readonly passages: { readonly scored: readonly Scored[]; readonly exhausted: boolean } | null
}

/** All candidates of a retrieval with their scores, including those that cannot reach the first page. */
interface AllScored {
  readonly all: Retrieval
  readonly scoring: Scoring
}

export interface Found {
  /**
   * Returns all candidates with their scores. The first call must come before any data on which the scores depend changes; later calls
   * return the first result.
   */
  get(): AllScored
  lasting(): Lasting
  /**
   * Key of the newest entry when the candidates were retrieved. Entries with a higher key were added later and are left out of later pages.
   * Infinite where the retrieval already found everything, so that no deeper retrieval follows.
   */
  readonly newest: EntryKey
}

/**
 * For a lens (a named way to query and rank) whose score stage is asynchronous, so that it cannot be run again later: the scores of all
 * candidates, kept for later pages. `scored` null: the score stage is synchronous, and candidates are scored when a later page needs them.
 */
export interface Late {
  scored: AllScored | null
}

/**
 * Prepares the scoring of all candidates of a retrieval, which is run only if a later page is requested. `mark`: a function that adds to
 * each scored entry in which round of retrieval it was found.
 */
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
  // The context for later pages is made on first use, since most answers have no later pages.
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
    // The cast is safe: a score stage that did not return a promise for the first page does not return one here.
    const scoring = stages.score(all, { ...plan, query: whole.query }, whole) as Scoring
    found = { all, scoring: mark(scoring) }
    return found
  }
  // `newest` limits a deeper retrieval to entries that existed before. Where this retrieval found everything, no deeper one follows, so
  // there is no limit.
  const isAll = retrieval.exhausted && plan.query.group === 'entry'
  return { get, lasting, newest: isAll ? Number.POSITIVE_INFINITY : context.reader.newestEntry() }
}

/**
 * Returns a function that gives all candidates of a retrieval: by retrieving them again where that is possible, otherwise by keeping them
 * in memory. It is a separate function because JavaScript closures in one scope keep alive everything that any of them refers to.
 */
function bringerOf(retrieval: Retrieval): (context: QueryContext) => Retrieval {
  return retrieval.whole ?? (() => retrieval)
}

/**
 * Returns a function that ranks all items after a shown page; the page itself was ranked only up to its end. The function must be called
 * before the indexes or entries change. It is called as late as possible, since most requesters never ask for another page.
 */
export function orderLater(page: RankedPage, context: QueryContext): () => CachedOrder {
  // Only these parts of the page are captured, since capturing the page itself would keep all its candidates in memory.
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

/** The numbers of a retrieval that are kept for later pages, without its candidates and sets of entries, which can be large. */
function numbersOf({ depth, statistics, exhausted, complete }: Retrieval): Retrieval {
  return { candidates: [], allow: null, depth, statistics, exhausted, complete }
}

/**
 * Limits of the cache of kept ranked lists: each entry in an order takes about 500 bytes, so the order of a typical answer takes about 100
 * kB.
 */
const BOUNDS: CachedBounds = { most: 2_000, bytes: 32 * 1024 * 1024, lifetimeMs: CURSOR_LIFETIME_MS }
const BYTES_EACH = 500
/**
 * Limits of the cache of ranked lists that are not yet complete and must be completed before the indexes change, since it is impossible
 * afterwards. Large enough for all kept ranked lists of typical size. Completing a list takes some microseconds per entry, about a third of
 * a millisecond in all, with pauses between lists.
 */
const SETTLED: CachedBounds = { most: 400, bytes: BOUNDS.bytes, lifetimeMs: Number.POSITIVE_INFINITY }

export interface CachedPage {
  readonly order: LaterOrder
  /**
   * Number of results at the start of the list `order.rest` (results after the first page) that pages up to here have shown, or skipped
   * because they no longer exist or are hidden.
   */
  readonly at: number
}

/** The order of an answer's results after its first page, which is computed at most once, by the first request for a later page. */
export class LaterOrder {
  #make: (() => CachedOrder | null) | null
  #order: CachedOrder | null = null

  constructor(make: () => CachedOrder | null) {
    this.#make = make
  }

  /**
   * The complete order of results. Null: the indexes changed before it was completed, so the order of that time can no longer be computed.
   */
  get(): CachedOrder | null {
    const make = this.#make
    this.#make = null
    if (make !== null) this.#order = make()
    return this.#order
  }
}

/**
 * The cache of one engine's ranked lists, by the place where a page ended. A ranked list is completed when its next page is requested, or
 * just before the indexes change (`settleSome`); so an answer of which only the first page is read, as most are, costs no completion.
 */
export class CachedOrders extends Held<CachedPage> {
  /**
   * Ranked lists that may be incomplete. They are weak references, so a list stays in memory only while the cursor of its page can still be
   * used.
   */
  readonly #later: Held<WeakRef<LaterOrder>>
  /**
   * For each incomplete ranked list, the function that completes it. Dropped when the indexes change: the functions then no longer work,
   * and they keep much data in memory.
   */
  #makers = new WeakMap<LaterOrder, () => CachedOrder>()
  #count = 0

  /**
   * `whose`: maps a viewer to the requester under whose limit its kept ranked lists are counted, where several viewers belong to one
   * requester.
   */
  constructor(whose?: (viewer: string) => string, bounds: CachedBounds = BOUNDS, settled: CachedBounds = SETTLED) {
    super(bounds, whose)
    this.#later = new Held(settled, whose)
  }

  /**
   * Registers a ranked list that `make` will complete if its next page is requested before the indexes change. `count`: approximate number
   * of entries in the order, by which its memory is estimated.
   */
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

  /**
   * Keeps the order for a page that ended at `place`. `count`: approximate number of entries in the order, by which its memory is
   * estimated.
   */
  override hold(place: string, viewer: string, page: CachedPage, count: number, now: Instant): void {
    super.hold(place, viewer, page, count * BYTES_EACH, now, page.order)
  }

  /**
   * Completes one of the ranked lists that are not complete yet, and returns false when none is left. Before the indexes change, it must be
   * called until it returns false, since lists cannot be completed afterwards.
   */
  settleSome(): boolean {
    for (const later of this.#later.values()) {
      const order = later.deref()
      // The list was garbage-collected: nobody can use the cursor of its page any more.
      if (order === undefined) continue
      try {
        // Completing a list also removes it from the list of incomplete lists (`#later`), so the next call of this method finds another
        // one.
        order.get()
      } catch {
        // A ranked list that fails to complete is not kept. The error is ignored, since the caller is changing the indexes and has not
        // requested this list.
      }
      return true
    }
    this.#later.clear()
    this.#makers = new WeakMap()
    return false
  }
}

/**
 * Largest number of items in a kept ranked list; pages after that are found by a new retrieval from the position where the last page ended.
 */
const LONGEST = 4 * MAX_LIMIT

export interface WentOn {
  readonly answer: Answer
  readonly order: CachedOrder
  /**
   * Number of results at the start of the list `order.rest` (results not yet shown when the list was kept) that are shown or skipped after
   * this page.
   */
  readonly at: number
  /** Whether the page is complete; false when the time limit passed first. */
  readonly complete: boolean
}

/**
 * Makes a page of the next `limit` results from a ranked list kept in memory. `at`: number of results at the start of its list `rest` that
 * were shown already. Null: the page goes beyond the largest number of results that is kept.
 */
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

/**
 * Extends a kept ranked list by one deeper retrieval, with the state and visibility of the first page, and without entries added since
 * then.
 */
async function deeper(
  order: CachedOrder,
  at: number,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<CachedOrder> {
  const { context: lasting, thaw } = lastingContext(context, context.accessScope)
  const inTime = derived(lasting, { deadline: context.deadline })
  // Retrieval starts from the beginning of the results, not after the last page: an entry that was changed meanwhile may now rank before
  // the place where that page ended.
  const plan: Plan = { ...order.plan, query: { ...lasting.query, after: null } }
  const round = order.round + 1
  const depth = hasRounds(plan) ? firstDepth(query) * DEEPER ** round : order.retrieval.depth * DEEPER
  const brought = await stages.retrieve(plan, depth, context)
  const known = [...order.before, ...order.rest]
  const [isKnown, ofKnown] = [new Set(known.map(itemKey)), new Set(known.map(({ entry }) => entry))]
  // Where results are passages, an entry already in the order may have further passages that are not in it yet.
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
    // Where the query requires an exact order, items found by a deeper retrieval may rank before items that are still to be shown, so all
    // are sorted together.
    rest: isAppended ? all : (inOrder(all, lasting) as readonly Ranked[]),
    round: isCut ? order.round : round,
  }
}

/**
 * Ranks newly retrieved items after those that were ranked before (`known`). `isCut` is true where some items were left unranked: putting
 * results in a diverse order is slow, so only enough for a few pages are ordered.
 */
async function rankBehind(
  known: readonly Ranked[],
  fresh: Scoring,
  plan: Plan,
  query: Query,
  stages: Stages,
  context: QueryContext,
): Promise<{ readonly ranked: readonly Ranked[]; readonly isCut: boolean }> {
  // Where the number per group is limited or results are diversified, items already shown take part: they count in their groups, and new
  // items are compared with them for similarity.
  const isGrouped = query.diversity < 1 || hasCaps(query)
  const scored = isGrouped ? [...known, ...fresh.scored] : fresh.scored
  // The limit is enough for a few pages: diversifying compares each chosen item with all chosen before, so ordering every item would be
  // slow.
  const enough = { ...query, limit: Math.max(query.limit, LEG_DEPTH), after: { ...NOWHERE, rank: known.length } }
  const wider = derived(context, { query: enough })
  const { ranked: all } = await context.turns.run(stages.diversify({ ...fresh, scored }, plan, wider))
  const isKnown = new Set(known.map(itemKey))
  const ranked = all.filter(one => !isKnown.has(itemKey(one)))
  return { ranked, isCut: query.diversity < 1 && all.length < scored.length && ranked.length > 0 }
}

/**
 * Combines the scorings of two retrievals: each item's components and explanation come from the scoring of the retrieval that found that
 * item.
 */
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
    // A retrieval's formula is chosen by the entry to which the passages belong. All passages in one call of `rate` belong to the same
    // entry, so it is enough that any one of them belongs to a newly found entry.
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
 * A copy of a query's context with some members replaced. Members are copied one by one, since an object that has the original as its
 * prototype would get a V8 hidden class of its own, whose references are only freed by a full garbage collection.
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
    // A getter, not a copied value, since reading `words` or `vectors` may load the index.
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
 * The query context in which results after the first page are ranked later, without limits of number and time. It uses the access rights
 * that the viewer had at the time of the first page. After `thaw` is called it uses the viewer's current rights, so that explanations
 * reveal nothing hidden since.
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
