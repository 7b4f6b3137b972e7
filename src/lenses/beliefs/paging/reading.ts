/**
 * Reads a query page by page: through cursors, each of which opens a new reading, or as a stream. The first page fixes the time and the
 * order; all later pages continue in it (BQ-142 to BQ-149).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import type { ShowView } from '../access/show.ts'
import { beginningOf } from '../answer/front.ts'
import {
  type Answer,
  type AnswerSource,
  asPart,
  type Compared,
  type Draft,
  draftOf,
  emitPage,
  type Showing,
  showingOf,
  showPage,
} from '../answer/show-page.ts'
import { BeliefsError } from '../errors.ts'
import { concentrationWarnings, isOfConcentration, shareOf, type TrustShare } from '../explain/belief-explanation.ts'
import type { QueryResult, RankedBelief } from '../model.ts'
import { sourcesToAsk } from '../nodes/asking/ask-nodes.ts'
import { queryNodes } from '../nodes/query-nodes.ts'
import type { Call } from '../query/evaluation.ts'
import { embedText } from '../query/understand.ts'
import type { Boundary, Picked } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import { type BeliefsState, countersOf } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import { noteUse } from '../trust/trust-graph.ts'
import {
  CachedOrder,
  type CursorOwner,
  cursorExpired,
  digestOf,
  nameOf,
  orderedOf,
  ordersOf,
  questionHash,
  readCursor,
  writeCursor,
} from './cached-order.ts'

/** Number of attempts to make a page when part of it became hidden in the meantime. */
const ATTEMPTS = 3

/** Counter that gives the orders of streams unique names. */
let streams = 0

/**
 * Opens a reading of a query. Throws INVALID_QUERY for a cursor that does not belong to this query, or no longer does; rejects if the
 * caller has gone.
 */
export async function openReading(state: BeliefsState, query: CheckedQuery, call: Call): Promise<Reading> {
  await state.load(call.signal)
  const reading = new Reading(state, query, call)
  await reading.goOn()
  return reading
}

/** A page, and the order for the next one. */
interface Page {
  readonly draft: Draft
  /** Order for the next page; null: there is none. */
  readonly order: CachedOrder | null
}

export class Reading {
  readonly #state: BeliefsState
  readonly #query: CheckedQuery
  readonly #call: Call
  readonly #owner: CursorOwner
  /** Name under which the order is cached between the pieces of a stream. */
  readonly #place = `stream ${++streams}`
  /** Time of the first page; null: it was not opened yet. */
  #asOf: Instant | null = null
  /** Source of the next page; null: it must be opened first. */
  #source: AnswerSource | null = null
  /** The order; null: it was not made yet, or there are no further results. */
  #order: CachedOrder | null = null
  #isAtEnd = false
  /** Digest of the order at the beginning; null: not known yet. */
  #digest: string | null = null
  /** The last result that was read; null: none. */
  #boundary: Boundary | null = null
  #passed: number
  /** Time limit of the next page. Each page has its own, because no work is done while a reader is slow. */
  #time: TimeLimit
  /** Whether the time limit is still the one from the beginning. */
  #isFresh = true
  /** Results read so far with which later ones are compared. */
  #compared: readonly Compared[] = []

  constructor(state: BeliefsState, query: CheckedQuery, call: Call) {
    const { cursor, offset } = query.options
    const { requester } = call
    this.#state = state
    this.#query = query
    this.#call = call
    this.#owner = { question: questionHash(query), requester }
    this.#time = this.#limited()
    this.#passed = offset
    if (cursor === null) return
    const now = state.host.clock.now()
    const content = readCursor(state.secret(), cursor, this.#owner, now)
    this.#asOf = content.asOf
    this.#digest = content.digest
    this.#boundary = content.boundary
    this.#passed = content.passed
    this.#take(ordersOf(state).find(nameOf(this.#owner, content), requester, now))
  }

  /** Whether there are further results; true before the first page, when that is not known. */
  get hasMore(): boolean {
    return !this.#isAtEnd
  }

  /** Number of results read or skipped so far. */
  get passed(): number {
    return this.#passed
  }

  /**
   * Releases the order until the next page: it stays in the cache, within its requester's share of the space, so that slow readers get no
   * more space than others.
   */
  keep(): void {
    if (this.#order === null) return
    this.#hold(this.#place, this.#order)
    this.#order = null
    this.#source = null
  }

  /** Opens the source of the next page, or continues with the cached one. */
  async goOn(): Promise<void> {
    const { host } = this.#state
    if (this.#source === null)
      this.#take(ordersOf(this.#state).find(this.#place, this.#owner.requester, host.clock.now()))
    this.#source ??= await this.#open()
  }

  #take(order: CachedOrder | null): void {
    this.#order = order
    this.#source = order?.source ?? null
  }

  #hold(name: string, order: CachedOrder): void {
    const { host } = this.#state
    ordersOf(this.#state).hold(name, this.#owner.requester, order, order.byteLength, host.clock.now())
  }

  /** Opens the source as of the time of the first page. */
  async #open(): Promise<AnswerSource> {
    const [state, query] = [this.#state, this.#query]
    const { requester, signal } = this.#call
    if (!this.#isFresh) this.#time = this.#limited()
    this.#isFresh = true
    const sources = sourcesToAsk(state.host.store, state.requester(requester), query.options.scope)
    const embedded = await embedText(state, query.semantic, signal, this.#time)
    const asOf = this.#asOf ?? state.host.clock.now()
    this.#asOf = asOf
    if (sources.length === 0) return { embedded, asOf, nodes: null }
    const { nodes, time } = await queryNodes({ state, query, requester, sources, embedded, asOf }, this.#time)
    this.#time = time
    return { embedded, asOf, nodes }
  }

  #limited(): TimeLimit {
    return new TimeLimit(this.#query.options.timeoutMs, this.#call.signal, this.#call.machineTime)
  }

  /** Removes the order of the stream from the cache; orders of cursors stay. */
  release(): void {
    ordersOf(this.#state).release(this.#place)
  }

  /** Reads the next results, at most `limit`. */
  async next(limit: number): Promise<QueryResult> {
    const { page, answer } = await this.#answer(limit)
    this.#isFresh = false
    const last = page.draft.picked.at(-1)
    this.#passed += page.draft.picked.length
    if (last !== undefined) this.#boundary = last.scored
    this.#order = page.order
    this.#isAtEnd = page.order === null
    this.#compared = answer.compared
    if (!this.#query.options.dryRun) {
      const { store, clock } = this.#state.host
      noteUse({ store, now: clock.now() }, this.#state.trust, this.#owner.requester, answer.used)
    }
    return answer.result
  }

  /** Cursor of the next page, whose order is then cached; null: there is no next page. */
  cursor(): string | null {
    const [order, boundary, state, owner] = [this.#order, this.#boundary, this.#state, this.#owner]
    if (order === null || boundary === null) return null
    const content = { asOf: order.source.asOf, boundary, passed: this.#passed, digest: order.digest }
    this.#hold(nameOf(owner, content), order)
    return writeCursor(state.secret(), owner, content, state.host.clock.now())
  }

  async #answer(limit: number): Promise<{ readonly page: Page; readonly answer: Answer }> {
    const { requester } = this.#owner
    if (!this.#isFresh) this.#time = this.#limited()
    const [state, time] = [this.#state, this.#time]
    // A lack of time does not fail this step: the answer then contains what was found so far, and is marked as partial.
    const turns = turnsUntil(time.signal)
    for (let attempt = 1; ; attempt++) {
      const page = await state.lookInSteps(requester, home => this.#page(this.#showing(home), limit), time)
      await turns.pauseIfDue()
      // The second check of the visibility matrix, with present memberships and beliefs.
      const shown = state.look(requester, home => showPage(this.#showing(home), page.draft, this.#compared), time)
      await turns.pauseIfDue()
      if (shown.results.length === page.draft.picked.length || attempt === ATTEMPTS || time.leftMs === 0) {
        return { page, answer: emitPage(this.#query, requester, page.draft, shown, time) }
      }
    }
  }

  get #from(): AnswerSource {
    if (this.#source === null) throw new Error('invariant broken: a page of what was not opened')
    return this.#source
  }

  #showing(home: ShowView): Showing {
    return showingOf(home, this.#from, this.#query.options)
  }

  *#page(showing: Showing, limit: number): Steps<Page> {
    const [held, boundary, source] = [this.#order, this.#boundary, this.#from]
    if (held !== null && boundary !== null)
      return this.#pageIn(held, showing, yield* held.after(showing, boundary, limit + 1), limit)
    const ordered = yield* orderedOf(this.#state, showing.view, this.#query, source)
    const order = new CachedOrder(ordered, source, digestOf(ordered))
    if (boundary !== null && order.digest !== this.#digest) throw cursorExpired()
    this.#digest = order.digest
    if (boundary !== null) return this.#pageIn(order, showing, yield* order.after(showing, boundary, limit + 1), limit)
    const { offset } = this.#query.options
    // Results of other nodes were fetched earlier, so they are checked again.
    const holds = source.nodes === null ? undefined : showing.isSeen
    const upTo = yield* beginningOf(ordered.evaluation, ordered.front, offset + limit + 1, holds)
    return this.#pageIn(order, showing, upTo.slice(offset), limit)
  }

  /** `found`: the next results, one more than the page if there are so many. */
  #pageIn(order: CachedOrder, { view }: Showing, found: readonly Picked[], limit: number): Page {
    const { front, source } = order
    const isMore = found.length > limit
    const warnings = [...order.warnings, ...(front?.warnings ?? []), ...(isMore ? [] : (source.nodes?.cut ?? []))]
    const page = { picked: found.slice(0, limit), passed: this.#passed, warnings }
    const draft = draftOf(view, order, page, this.#query.options.includeExplanation)
    return { draft, order: isMore ? order : null }
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

// An answer as a stream of chunks in order, each checked against the visibility matrix when it is sent (BQ-150 to BQ-155). A chunk is made
// only when it is requested. Between chunks only the order is kept, as between pages.

export interface QueryChunk {
  readonly beliefs: readonly RankedBelief[]
  /** Progress from 0 to 1; never decreases, and is 1 only in the last chunk. */
  readonly progress: number
  readonly done: boolean
  /** Conflicts between beliefs of this chunk; absent: there are none. */
  readonly conflicts?: QueryResult['conflicts']
}

/** The last chunk, which has the fields of a page for the whole answer. */
export interface LastChunk
  extends QueryChunk,
    Pick<QueryResult, 'total_count' | 'count_exact' | 'next_cursor' | 'partial' | 'coverage'>,
    Pick<QueryResult, 'errors' | 'effective_weights' | 'as_of' | 'warnings'>,
    Pick<QueryResult, 'verdict' | 'verdict_reason' | 'verdict_by' | 'nearest'> {
  readonly done: true
}

/** Maximum progress of a chunk that is not the last. */
const MAX_BEFORE_END = 0.99

export async function* streamQuery(
  state: BeliefsState,
  query: CheckedQuery,
  call: Call,
): AsyncGenerator<QueryChunk | LastChunk, void> {
  const { limit, chunkSize } = query.options
  const reading = await openReading(state, query, call)
  const before = reading.passed
  const ending = new Ending()
  let [read, shown, spentMs, progress] = [0, 0, 0, 0]
  try {
    for (let isLast = false; !isLast; ) {
      const started = performance.now()
      const piece = await nextOf(reading, Math.min(chunkSize, limit - read), read === 0)
      const { beliefs, conflicts, total_count: total } = ending.with(piece)
      shown += beliefs.length
      read = reading.passed - before
      isLast = piece instanceof BeliefsError || !reading.hasMore || read >= limit
      const cursor = isLast ? reading.cursor() : null
      if (!isLast) reading.keep()
      spentMs += performance.now() - started
      progress = Math.max(progress, Math.min(MAX_BEFORE_END, read / Math.min(limit, Math.max(1, total - before))))
      const chunk = { beliefs, ...(conflicts.length > 0 && { conflicts }) }
      yield isLast
        ? { ...chunk, progress: 1, done: true, ...ending.lastFields(query, call.requester, cursor) }
        : { ...chunk, progress, done: false }
    }
  } finally {
    reading.release()
    countersOf(state.host).countQuery(spentMs, shown)
  }
}

/** The next results, or an error. Once something was sent, a lack of time or a lost order ends the stream with a partial answer. */
async function nextOf(reading: Reading, limit: number, isFirst: boolean): Promise<QueryResult | BeliefsError> {
  try {
    await reading.goOn()
    return await reading.next(limit)
  } catch (thrown) {
    if (isFirst || !(thrown instanceof BeliefsError)) throw thrown
    if (thrown.code !== 'TIMEOUT' && thrown.details['reason'] !== 'cursor_expired') throw thrown
    return thrown
  }
}

/** Collects the fields of all pieces, as a single page with all results would have them. */
class Ending {
  readonly #shares: TrustShare[] = []
  readonly #errors = new Map<string, QueryResult['errors'][number]>()
  #isPartial = false
  #last: QueryResult | null = null

  /** Adds a piece, or the error in place of it. */
  with(piece: QueryResult | BeliefsError): QueryResult {
    const errors = piece instanceof BeliefsError ? [asPart(piece)] : piece.errors
    // Errors are kept by code, so that a lack of time is reported once, however many pieces had too little.
    for (const error of errors) this.#errors.set(String(error['code']), error)
    this.#isPartial ||= piece instanceof BeliefsError || piece.partial
    if (!(piece instanceof BeliefsError)) {
      this.#shares.push(...piece.beliefs.map(shareOf))
      this.#last = { ...piece, beliefs: [], conflicts: [] }
      return piece
    }
    return this.#end
  }

  lastFields({ options }: CheckedQuery, requester: string, cursor: string | null): LastFields {
    const { total_count, count_exact, coverage, effective_weights, as_of, warnings, ...rest } = this.#end
    const { verdict, verdict_reason, verdict_by, nearest } = rest
    // The concentration of trust in one piece does not apply to the whole answer.
    const others = warnings.filter(({ code }) => !isOfConcentration(code))
    const concentration = options.includeExplanation ? concentrationWarnings(this.#shares, requester) : []
    return {
      ...{ total_count, count_exact, as_of, coverage, effective_weights },
      ...(verdict !== undefined && { verdict, verdict_reason, verdict_by, nearest }),
      partial: this.#isPartial,
      errors: [...this.#errors.values()],
      warnings: [...others, ...concentration],
      ...(cursor !== null && { next_cursor: cursor }),
    }
  }

  get #end(): QueryResult {
    if (this.#last === null) throw new Error('invariant broken: a stream ends before its first piece')
    return this.#last
  }
}

type LastFields = Omit<LastChunk, keyof QueryChunk>
