/**
 * A query that is read page by page: by cursors, of which each opens a reading of its own, or as a stream. The first page
 * fixes the moment and the order; all others go on in it (BQ-142 to BQ-149).
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

/** How often a page is made again when part of it became hidden while it was made. */
const ATTEMPTS = 3

/** Gives the orders of streams names that no others have. */
let streams = 0

/** Throws INVALID_QUERY for a cursor that is not, or no longer, one of this query; rejects where the caller has gone. */
export async function openReading(state: BeliefsState, query: CheckedQuery, call: Call): Promise<Reading> {
  await state.load(call.signal)
  const reading = new Reading(state, query, call)
  await reading.goOn()
  return reading
}

/** A page, and what comes after it. */
interface Page {
  readonly draft: Draft
  /** Null: nothing does. */
  readonly order: CachedOrder | null
}

export class Reading {
  readonly #state: BeliefsState
  readonly #query: CheckedQuery
  readonly #call: Call
  readonly #owner: CursorOwner
  /** Where the order is between the pieces of a stream. */
  readonly #place = `stream ${++streams}`
  /** Null: it is the moment of the first page, which was not opened yet. */
  #asOf: Instant | null = null
  /** What the next page is read from; null: it must be opened first. */
  #source: AnswerSource | null = null
  /** Null: it is not made yet, or there is nothing more. */
  #order: CachedOrder | null = null
  #isAtEnd = false
  /** What the order was called at the beginning; null: not known yet. */
  #digest: string | null = null
  /** The last result that was read; null: none was. */
  #boundary: Boundary | null = null
  #passed: number
  /** Of the page that is next; each has its own, for who reads slowly works on nothing. */
  #time: TimeLimit
  /** Whether the time limit is still that of the beginning. */
  #isFresh = true
  /** What was read so far, of that which others are compared with. */
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

  /** Whether there is more to read; before the first page that is not known. */
  get hasMore(): boolean {
    return !this.#isAtEnd
  }

  /** Results read or skipped so far. */
  get passed(): number {
    return this.#passed
  }

  /**
   * Lets go of the order until the next page: it stays among those that are held, in its requester's share of the room, so
   * that who reads slowly has no more of that than others.
   */
  keep(): void {
    if (this.#order === null) return
    this.#hold(this.#place, this.#order)
    this.#order = null
    this.#source = null
  }

  /** Opens what the next page is read from, or takes it up again. */
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

  /** As of the moment of the first page. */
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

  /** Nothing is kept for it any more, but for who comes with a cursor. */
  release(): void {
    ordersOf(this.#state).release(this.#place)
  }

  /** The next results, at most so many. */
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

  /** Of the next page, and the order is held for it; null: there is none. */
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
    // Want of time ends none of this: what there is by then is the answer, as a part.
    const turns = turnsUntil(time.signal)
    for (let attempt = 1; ; attempt++) {
      const page = await state.lookInSteps(requester, home => this.#page(this.#showing(home), limit), time)
      await turns.pauseIfDue()
      // The second point of the matrix: as memberships and beliefs stand now.
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
    // What other nodes gave was gathered before.
    const holds = source.nodes === null ? undefined : showing.isSeen
    const upTo = yield* beginningOf(ordered.evaluation, ordered.front, offset + limit + 1, holds)
    return this.#pageIn(order, showing, upTo.slice(offset), limit)
  }

  /** `found`: what comes next, one more than the page has where there are so many. */
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

// An answer as a stream of chunks in its order, each checked against the access matrix as it leaves (BQ-150 to BQ-155). A chunk is made
// when it is asked for, and not before. Between chunks only the order is held, as between pages.

export interface QueryChunk {
  readonly beliefs: readonly RankedBelief[]
  /** Of the way; never falls, and is 1 in the last chunk alone. */
  readonly progress: number
  readonly done: boolean
  /** Between beliefs of this chunk; absent: there are none. */
  readonly conflicts?: QueryResult['conflicts']
}

/** Says of the whole what a page says of itself. */
export interface LastChunk
  extends QueryChunk,
    Pick<QueryResult, 'total_count' | 'count_exact' | 'next_cursor' | 'partial' | 'coverage'>,
    Pick<QueryResult, 'errors' | 'effective_weights' | 'as_of' | 'warnings'>,
    Pick<QueryResult, 'verdict' | 'verdict_reason' | 'verdict_by' | 'nearest'> {
  readonly done: true
}

/** Progress of a chunk that is not the last. */
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

/** Where something was sent already, a lack of time or of its order ends a stream with a partial answer. */
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

/** What pieces say of themselves, as one page of all of them would say it. */
class Ending {
  readonly #shares: TrustShare[] = []
  readonly #errors = new Map<string, QueryResult['errors'][number]>()
  #isPartial = false
  #last: QueryResult | null = null

  /** A piece, or why there is none. */
  with(piece: QueryResult | BeliefsError): QueryResult {
    const errors = piece instanceof BeliefsError ? [asPart(piece)] : piece.errors
    // A lack of time is reported once, however many pieces had too little.
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
    // What a piece says of its own trust is not so of the whole.
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
