/**
 * Reads a query's results page by page: through cursors, each of which continues in a new request, or as a stream within one request. The
 * first page fixes the query's time and the order of results; all later pages continue in this order (BQ-142 to BQ-149).
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

/** Maximum number of attempts to make a page if some of its results became hidden while it was made. */
const ATTEMPTS = 3

/** Counter from which each stream gets a unique name for its cached ranked list. */
let streams = 0

/**
 * Opens a query for reading. Throws INVALID_QUERY for a cursor that does not belong to this query or has expired; rejects if the caller has
 * cancelled.
 */
export async function openReading(state: BeliefsState, query: CheckedQuery, call: Call): Promise<Reading> {
  await state.load(call.signal)
  const reading = new Reading(state, query, call)
  await reading.goOn()
  return reading
}

/** A page of results, and the ranked list from which the next page is taken. */
interface Page {
  readonly draft: Draft
  /** Order in which the next page continues; null: there are no further results. */
  readonly order: CachedOrder | null
}

export class Reading {
  readonly #state: BeliefsState
  readonly #query: CheckedQuery
  readonly #call: Call
  readonly #owner: CursorOwner
  /** Name under which the order of results is cached while a stream waits for its next piece to be requested. */
  readonly #place = `stream ${++streams}`
  /** Time of the query, fixed by the first page; null: the first page has not been opened yet. */
  #asOf: Instant | null = null
  /** Vectors of the text and results of other nodes for the next page; null: they must be obtained first. */
  #source: AnswerSource | null = null
  /** The order of results; null: it is not known at the moment, or there are no further results. */
  #order: CachedOrder | null = null
  #isAtEnd = false
  /** Hash of the ranked list when the first page was made; null: not known yet. */
  #digest: string | null = null
  /** Position of the last result that was read; null: no result was read yet. */
  #boundary: Boundary | null = null
  #passed: number
  /** Time limit of the next page. Each page has a new time limit, because no work is done while the reader waits. */
  #time: TimeLimit
  /** Whether no page has been read since the time limit was set, so that it need not be set again. */
  #isFresh = true
  /** Results of earlier pages, with which later results are compared to find conflicts. */
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

  /** Whether the query has results that were not read yet; true before the first page, when this is not known. */
  get hasMore(): boolean {
    return !this.#isAtEnd
  }

  /** Number of results that were read, or skipped by `offset`, so far. */
  get passed(): number {
    return this.#passed
  }

  /**
   * Moves the order of results to the cache until the next page is requested. In the cache it counts towards its requester's share of the
   * memory, so that slow readers cannot use more than others.
   */
  keep(): void {
    if (this.#order === null) return
    this.#hold(this.#place, this.#order)
    this.#order = null
    this.#source = null
  }

  /** Prepares the next page: continues with the cached ranked list, or obtains the vectors and the results of other nodes again. */
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

  /** Obtains the vectors of the text and the results of other nodes, as of the time of the first page. */
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

  /** Removes the ranked list of this stream from the cache; lists cached for cursors stay. */
  release(): void {
    ordersOf(this.#state).release(this.#place)
  }

  /** Reads and returns the next results, at most `limit`. */
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

  /** Caches the order and returns a cursor for the next page; null: there is no next page. */
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
    // Only cancellation ends this work, not the time limit: when time runs out, the answer contains what was found so far and is marked as
    // partial.
    const turns = turnsUntil(time.signal)
    for (let attempt = 1; ; attempt++) {
      const page = await state.lookInSteps(requester, home => this.#page(this.#showing(home), limit), time)
      await turns.pauseIfDue()
      // Checks again that the requester may see each result, with the memberships and beliefs of this moment.
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
    // Results of other nodes were fetched before this view was opened, so their visibility is checked again.
    const holds = source.nodes === null ? undefined : showing.isSeen
    const upTo = yield* beginningOf(ordered.evaluation, ordered.front, offset + limit + 1, holds)
    return this.#pageIn(order, showing, upTo.slice(offset), limit)
  }

  /** Makes a page from the results found. `found`: the next results, one more than fits on the page if there are that many. */
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

// Sends an answer as a stream of chunks in order; the visibility of each result is checked when its chunk is sent (BQ-150 to BQ-155). A
// chunk is computed only when it is requested. Between chunks only the order of results is kept.

export interface QueryChunk {
  readonly beliefs: readonly RankedBelief[]
  /** Estimated progress of the stream, from 0 to 1; it never decreases, and is 1 only in the last chunk. */
  readonly progress: number
  readonly done: boolean
  /** Conflicts between results of this chunk, or with results of earlier chunks; absent: there are none. */
  readonly conflicts?: QueryResult['conflicts']
}

/** The last chunk of a stream, which also has the fields of an answer page, applying to the whole answer. */
export interface LastChunk
  extends QueryChunk,
    Pick<QueryResult, 'total_count' | 'count_exact' | 'next_cursor' | 'partial' | 'coverage'>,
    Pick<QueryResult, 'errors' | 'effective_weights' | 'as_of' | 'warnings'>,
    Pick<QueryResult, 'verdict' | 'verdict_reason' | 'verdict_by' | 'nearest'> {
  readonly done: true
}

/** Maximum progress reported by a chunk that is not the last. */
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

/**
 * The next results of a stream, or the error that ends it. Once a chunk was sent, running out of time or losing the order of results ends
 * the stream with a partial answer; other errors are thrown.
 */
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

/**
 * Collects errors, warnings and other fields of all pieces of a stream, so that the last chunk reports what a single page with all results
 * would report.
 */
class Ending {
  readonly #shares: TrustShare[] = []
  readonly #errors = new Map<string, QueryResult['errors'][number]>()
  #isPartial = false
  #last: QueryResult | null = null

  /** Adds a piece of the stream, or the error that occurred in its place. */
  with(piece: QueryResult | BeliefsError): QueryResult {
    const errors = piece instanceof BeliefsError ? [asPart(piece)] : piece.errors
    // Errors are kept by code, so that running out of time is reported once, in however many pieces it happened.
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
    // Warnings that trust is concentrated on one holder, as computed for a single piece of the stream, are dropped. They are computed again
    // for the whole answer.
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
