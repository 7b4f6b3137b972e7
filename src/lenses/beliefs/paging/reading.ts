/**
 * A query that is read page by page: by cursors, of which each opens a reading of its own, or as a stream. The first page
 * fixes the moment and the order; all others go on in it (BQ-142 to BQ-149).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import type { ShowView } from '../access/show.ts'
import { beginningOf, frontOf } from '../answer/front.ts'
import { type Draft, draftOf, verdictOf } from '../answer/page-draft.ts'
import { type Answer, type Compared, showingOf, showPage, tellPage } from '../answer/show-page.ts'
import { countersOf } from '../beliefs-counters.ts'
import type { QueryResult } from '../model.ts'
import { sourcesToAsk } from '../nodes/asking/ask-nodes.ts'
import { openGathered } from '../nodes/gathered/gathered-reading.ts'
import { warningsOf } from '../query/asked.ts'
import type { Call } from '../query/call.ts'
import { evaluateInSteps } from '../query/evaluate.ts'
import { type Embedded, embedText } from '../query/understand.ts'
import type { Boundary } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { noteUse } from '../trust/acts.ts'
import {
  CachedOrder,
  type CursorContent,
  type CursorOwner,
  nameOf,
  orderAt,
  ordersOf,
  type Pages,
  questionHash,
  readCursor,
  rebuilt,
  writeCursor,
} from './held-order.ts'

/** How often a page is made anew when something of it went out of sight while it was made. */
const ATTEMPTS = 3

/** Throws INVALID_QUERY for a cursor that is not, or no longer, one of this query; rejects where the caller has gone. */
export async function openReading(
  state: BeliefsState,
  query: CheckedQuery,
  { requester, signal, machineTime }: Call,
): Promise<Pages> {
  const { cursor } = query.options
  const owner = { question: questionHash(query), requester }
  const limited = () => new TimeLimit(query.options.timeoutMs, signal, machineTime)
  const embed = (within: TimeLimit) => embedText(state, query.semantic, signal, within)
  await state.load(signal)
  const time = limited()
  const sources = sourcesToAsk(state.host.store, state.requester(requester), query.options.scope)
  if (sources.length > 0) {
    const [now, embedded] = [state.host.clock.now(), await embed(time)]
    const content = cursor === null ? null : readCursor(state.secret(), cursor, owner, now)
    const asOf = content?.asOf ?? state.host.clock.now()
    return openGathered({ state, query, requester, sources, embedded, asOf, time }, owner, content, limited)
  }
  if (cursor === null) {
    const embedded = await embed(time)
    return new Reading(state, query, owner, { embedded, asOf: state.host.clock.now() }, { time, limited, embed })
  }
  const now = state.host.clock.now()
  const content = readCursor(state.secret(), cursor, owner, now)
  const order = orderAt(state, nameOf(owner, content), requester)
  if (order !== null) return new Reading(state, query, owner, { order, content }, { time, limited, embed })
  const made = await rebuilt(state, query, requester, await embed(time), content, time)
  return new Reading(state, query, owner, { order: made, content }, { time, limited, embed })
}

/** Where a reading begins. */
type Beginning =
  | { readonly embedded: Embedded; readonly asOf: Instant }
  | { readonly order: CachedOrder; readonly content: CursorContent }

interface ReadingTools {
  /** Of the first page; runs already. */
  readonly time: TimeLimit
  readonly limited: () => TimeLimit
  readonly embed: (within: TimeLimit) => Promise<Embedded>
}

/** Gives the orders of streams names that no others have. */
let streams = 0

/** A page, and what comes after it. */
interface Page {
  readonly draft: Draft
  /** Null: nothing does. */
  readonly order: CachedOrder | null
}

class Reading implements Pages {
  readonly #state: BeliefsState
  readonly #query: CheckedQuery
  readonly #owner: CursorOwner
  /** Of the first page; null where it was read before. */
  readonly #first: { readonly embedded: Embedded; readonly asOf: Instant } | null
  /** Null: nothing was read, or there is nothing more. */
  #order: CachedOrder | null = null
  /** Of the page that is next; each has its own, for who reads slowly works on nothing. */
  #time: TimeLimit
  readonly #limited: () => TimeLimit
  readonly #embed: ReadingTools['embed']
  /** Where the order is between the pieces of a stream. */
  readonly #place: string
  #kept: Pick<CursorContent, 'asOf' | 'digest'> | null = null
  #boundary: Boundary | null = null
  #passed: number
  /** Whether the time limit is still that of the beginning. */
  #isFresh = true
  /** What was read so far, of that which others are compared with. */
  #compared: readonly Compared[] = []

  constructor(
    state: BeliefsState,
    query: CheckedQuery,
    owner: CursorOwner,
    beginning: Beginning,
    { time, limited, embed }: ReadingTools,
  ) {
    this.#time = time
    this.#limited = limited
    this.#embed = embed
    this.#place = `stream ${++streams}`
    this.#state = state
    this.#query = query
    this.#owner = owner
    this.#first = 'embedded' in beginning ? beginning : null
    this.#passed = query.options.offset
    if (!('order' in beginning)) return
    this.#order = beginning.order
    this.#boundary = beginning.content.boundary
    this.#passed = beginning.content.passed
  }

  /** Whether there is more to read; before the first page that is not known. */
  get hasMore(): boolean {
    return this.#order !== null || this.#kept !== null
  }

  /**
   * Lets go of the order until the next page: it stays among those that are held, in its requester's share of the room, so
   * that who reads slowly has no more of that than others.
   */
  keep(): void {
    const order = this.#order
    if (order === null) return
    const { host } = this.#state
    ordersOf(this.#state).hold(this.#place, this.#owner.requester, order, order.byteLength, host.clock.now())
    this.#kept = { asOf: order.asOf, digest: order.digest }
    this.#order = null
  }

  /** Takes it up again, or finds it anew; rejects with `cursor_expired` where that cannot be done. */
  async goOn(): Promise<void> {
    const [kept, boundary, state] = [this.#kept, this.#boundary, this.#state]
    if (kept === null || boundary === null) return
    const { requester } = this.#owner
    this.#kept = null
    this.#order = orderAt(state, this.#place, requester)
    if (this.#order !== null) return
    this.#time = this.#limited()
    this.#isFresh = true
    const content = { ...kept, boundary, passed: this.#passed }
    this.#order = await rebuilt(state, this.#query, requester, await this.#embed(this.#time), content, this.#time)
  }

  /** Nothing is kept for it any more, but for who comes with a cursor. */
  release(): void {
    ordersOf(this.#state).release(this.#place)
  }

  /** Results read or skipped so far. */
  get passed(): number {
    return this.#passed
  }

  /** The next results, at most so many. */
  async next(limit: number): Promise<QueryResult> {
    const { requester } = this.#owner
    const { page, answer } = await this.#answer(limit)
    this.#isFresh = false
    const last = page.draft.picked.at(-1)
    this.#passed += page.draft.picked.length
    if (last !== undefined) this.#boundary = last.scored
    this.#order = page.order
    this.#compared = answer.compared
    if (!this.#query.options.dryRun) {
      const { store, clock } = this.#state.host
      noteUse({ store, now: clock.now() }, this.#state.trust, requester, answer.used)
    }
    return answer.result
  }

  /** Of the next page, and the order is held for it; null: there is none. */
  cursor(): string | null {
    const [order, boundary, state, owner] = [this.#order, this.#boundary, this.#state, this.#owner]
    if (order === null || boundary === null) return null
    const now = state.host.clock.now()
    const content = { asOf: order.asOf, boundary, passed: this.#passed, digest: order.digest }
    ordersOf(state).hold(nameOf(owner, content), owner.requester, order, order.byteLength, now)
    return writeCursor(state.secret(), owner, content, now)
  }

  async #answer(limit: number): Promise<{ readonly page: Page; readonly answer: Answer }> {
    const { requester } = this.#owner
    if (!this.#isFresh) this.#time = this.#limited()
    const time = this.#time
    // Want of time ends none of this: what there is by then is the answer, as a part.
    const turns = turnsUntil(time.signal)
    for (let attempt = 1; ; attempt++) {
      const page = await this.#state.lookInSteps(requester, view => this.#page(view, limit), time)
      await turns.pauseIfDue()
      // The second point of the matrix: as memberships and beliefs stand now.
      const shown = this.#state.look(
        requester,
        view => showPage(showingOf(view, this.#query.options), page.draft, this.#compared),
        time,
      )
      await turns.pauseIfDue()
      if (shown.results.length === page.draft.picked.length || attempt === ATTEMPTS || time.leftMs === 0) {
        return { page, answer: tellPage(this.#query, requester, page.draft, shown, time) }
      }
    }
  }

  *#page(view: ShowView, limit: number): Steps<Page> {
    const [order, boundary] = [this.#order, this.#boundary]
    if (order === null || boundary === null) return yield* this.#firstPage(view, limit)
    const found = yield* order.after(view, boundary, limit + 1)
    const picked = found.slice(0, limit)
    const { total, isCut, verdict, front } = order
    const warnings = [...order.warnings, ...(front?.warnings ?? [])]
    const draft = draftOf(view, { ...this.#places, picked, total, isCut, verdict, warnings, scoredBy: order, front })
    return { draft, order: found.length > limit ? order : null }
  }

  *#firstPage(view: ShowView, limit: number): Steps<Page> {
    if (this.#first === null) throw new Error('invariant broken: read on after the end')
    const { embedded, asOf } = this.#first
    const { offset } = this.#query.options
    const evaluation = yield* evaluateInSteps(this.#state, view, this.#query, embedded, asOf)
    yield* evaluation.rank()
    yield
    const end = offset + limit
    const front = yield* frontOf(evaluation, this.#query.options)
    const upTo = yield* beginningOf(evaluation, front, front === null ? end : end + 1)
    yield
    const isMore = front === null ? evaluation.matches.count > end : upTo.length > end
    const warnings = warningsOf(this.#query, embedded, evaluation)
    const verdict = yield* verdictOf(evaluation)
    const { isCut, matches } = evaluation
    const total = matches.count
    const picked = upTo.slice(offset, end)
    return {
      draft: draftOf(view, {
        ...this.#places,
        ...{ picked, total, isCut, verdict, scoredBy: evaluation, front },
        warnings: [...warnings, ...(front?.warnings ?? [])],
      }),
      order: isMore ? new CachedOrder({ evaluation, front, verdict, warnings }) : null,
    }
  }

  get #places(): { readonly passed: number; readonly isExplained: boolean } {
    return { passed: this.#passed, isExplained: this.#query.options.includeExplanation }
  }
}

export async function runQuery(state: BeliefsState, query: CheckedQuery, call: Call): Promise<QueryResult> {
  const reading = await openReading(state, query, call)
  const started = performance.now()
  const result = await reading.next(query.options.limit)
  const cursor = reading.cursor()
  const elapsedMs = Math.round((performance.now() - started) * 1000) / 1000
  countersOf(state.host).countQuery(elapsedMs, result.beliefs.length)
  return { ...result, ...(cursor !== null && { next_cursor: cursor }), query_time_ms: elapsedMs }
}
