/**
 * The order of one query's matches, as of the moment of its first page: what is held so that later pages go on in it,
 * whatever is written meanwhile (BQ-143 to BQ-145, BQ-148). Matches are held as entry keys, with the cosines, the trust and the
 * memberships of then; scores are computed again from these as pages ask for them. What has gone since, or out of sight, is passed
 * over; what came since never comes in.
 */
import type { Bitset } from '../../../base/bitset.ts'
import { canonicalJson, type Json, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { hashOfTwo, textHash } from '../../../base/text-hash.ts'
import type { Steps } from '../../../base/turns.ts'
import { requesterOf } from '../../../identity/rates.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import { type CursorSeal, openCursor, sealCursor } from '../../../pipeline/cursor.ts'
import { Held } from '../../../pipeline/held.ts'
import type { Requester } from '../access/requester.ts'
import { isSeen, type ShowView } from '../access/show.ts'
import { POOL } from '../answer/diversity.ts'
import { type Front, frontOf, settlementOf } from '../answer/front.ts'
import { type Verdict, verdictOf } from '../answer/page-draft.ts'
import { type Fault, faulty } from '../errors.ts'
import { inScope, scopeRequest } from '../matching/in-scope.ts'
import type { QueryResult } from '../model.ts'
import { warningsOf } from '../query/asked.ts'
import { evaluateInSteps } from '../query/evaluate.ts'
import { Evaluation } from '../query/evaluation.ts'
import type { Question, Understood } from '../query/question.ts'
import type { Embedded } from '../query/understand.ts'
import { type Boundary, byOrder, type Picked, type ScoredBelief, unspread } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'
import type { HolderTrust } from '../trust/holders.ts'

interface FirstPage {
  readonly evaluation: Evaluation
  /** Null: results stand in the total order. */
  readonly front: Front | null
  readonly verdict: Verdict | null
  readonly warnings: readonly CheckedWarning[]
}

export class CachedOrder {
  readonly state: BeliefsState
  readonly question: Question
  readonly understood: Understood
  readonly asOf: Instant
  readonly warnings: readonly CheckedWarning[]
  /** All that matched. */
  readonly total: number
  readonly isCut: boolean
  readonly verdict: Verdict | null
  readonly digest: string
  readonly trust: HolderTrust
  /** As memberships were. */
  readonly requester: Requester
  /** Null: results stand in the total order. */
  readonly front: Front | null
  readonly #entries: Bitset
  readonly #cosines: ReadonlyMap<EntryKey, number> | null
  readonly #byWords: ReadonlySet<EntryKey>

  constructor({ evaluation, front, verdict, warnings }: FirstPage) {
    const { state, question, understood, asOf, trust, requester, matches } = evaluation
    this.state = state
    this.question = question
    this.understood = understood
    this.asOf = asOf
    this.warnings = warnings
    this.trust = trust
    this.requester = requester
    this.total = matches.count
    this.isCut = evaluation.isCut
    this.verdict = verdict
    this.digest = digestOf(evaluation)
    this.#entries = matches.bits
    this.#cosines = evaluation.cosines
    this.#byWords = evaluation.byWords
    this.front = front
  }

  /** Near enough. */
  get byteLength(): number {
    const vector = this.understood.meaning.by === 'vector' ? this.understood.meaning.vector.byteLength : 0
    const front = this.front === null ? 0 : POOL * (BELIEF_BYTES + vector)
    const cosines = (this.#cosines?.size ?? 0) * KEY_BYTES
    return this.#entries.byteLength + this.trust.byteLength + cosines + front + vector
  }

  /** At most so many of those behind a boundary, which may be seen still; their rows are the view's. A step for each in front. */
  *after(view: ShowView, boundary: Boundary, count: number): Steps<readonly Picked[]> {
    const { front } = this
    const isIt = (scored: ScoredBelief) => scored.id === boundary.id && compare(scored, boundary) === 0
    const inFront = front === null ? null : yield* front.behind(isIt, view.time)
    if (inFront === null) return yield* this.#behind(view, boundary, count)
    const found: readonly Picked[] = yield* this.#seenOf(view, inFront, count)
    const end = front?.end ?? null
    if (end === null || found.length === count) return found
    return [...found, ...(yield* this.#behind(view, end, count - found.length))]
  }

  /** In the total order: as of then, over those of its matches that are there still. */
  *#behind(view: ShowView, boundary: Boundary, count: number): Steps<readonly Picked[]> {
    const { entries } = view.columns.arrays
    const there = inScope(scopeRequest(view, this.question, this.asOf)).where(row =>
      this.#entries.has(entries[row] as EntryKey),
    )
    const earlier = { trust: this.trust, matches: there, cosines: this.#cosines, byWords: this.#byWords }
    const then = { ...view, requester: this.requester }
    const evaluation = new Evaluation(this.state, then, this.question, this.understood, this.asOf, earlier)
    yield* evaluation.rank()
    return evaluation.best(count, boundary).map(unspread)
  }

  *#seenOf(view: ShowView, picks: Iterable<Picked>, count: number): Steps<readonly Picked[]> {
    const found: Picked[] = []
    for (const { scored, penalty } of picks) {
      const seen = this.#seen(view, scored)
      if (seen !== null) found.push({ scored: seen, penalty })
      if (found.length === count) break
      yield
    }
    return found
  }

  /** With its row of now; null: it is not there, or not to be seen, any more. */
  #seen(view: ShowView, scored: ScoredBelief): ScoredBelief | null {
    const isThere = isSeen(view, scored.entry, this.question.scope)
    return isThere ? { ...scored, row: view.columns.rowOf(scored.entry) } : null
  }
}

const DIGEST_LENGTH = 24
const NINE_DECIMALS = 1e9

/**
 * One text for the whole order: which beliefs match, and what each scores. Equal in every process that ranks them alike, and
 * untouched by what is hidden.
 */
function digestOf(evaluation: Evaluation): string {
  const { matches, finals, view, state } = evaluation
  let [one, other] = [0, 0]
  for (let place = 0; place < matches.count; place++) {
    const id = textHash(view.columns.idOf(matches.rows[place] as number), matches.sources[place])
    const score = Math.round((finals[place] as number) * NINE_DECIMALS)
    one = (one + hashOfTwo(id, score)) | 0
    other = (other + hashOfTwo(score, id)) | 0
  }
  return sha256([one, other, matches.count, view.model].join()).slice(0, DIGEST_LENGTH) + settlementOf(state)
}

/** Of one that was scored: 211 were measured. */
const BELIEF_BYTES = 300
/** In a map. */
const KEY_BYTES = 40

/** Of one query no two have the same id. */
function compare(a: Boundary, b: Boundary): number {
  return byOrder({ ...a, holder: null } as ScoredBelief, { ...b, holder: null } as ScoredBelief)
}

const CURSOR_LIFETIME_MS = 15 * 60_000

/** Orders that are held in one engine: of its own store, and merged with what other nodes answered. */
const HELD = { most: 1_000, bytes: 64 * 2 ** 20, lifetimeMs: CURSOR_LIFETIME_MS }

const ORDERS = new WeakMap<BeliefsState, Held<object>>()

export function ordersOf(state: BeliefsState): Held<object> {
  const known = ORDERS.get(state)
  if (known !== undefined) return known
  const made = new Held<object>(HELD, requesterOf)
  ORDERS.set(state, made)
  return made
}

/** Of the own store alone; null: none is held under that name for that requester. */
export function orderAt(state: BeliefsState, name: string, requester: string): CachedOrder | null {
  const found = ordersOf(state).find(name, requester, state.host.clock.now())
  return found instanceof CachedOrder ? found : null
}

/** What an order is held under: the same for all cursors of one. */
export function nameOf(
  { question, requester }: CursorOwner,
  { asOf, digest }: Pick<CursorContent, 'asOf' | 'digest'>,
): string {
  return JSON.stringify([question, requester, asOf, digest])
}

/** The order as of the cursor's moment; throws where it cannot be known any more. */
export async function rebuilt(
  state: BeliefsState,
  query: CheckedQuery,
  requester: string,
  embedded: Embedded,
  content: CursorContent,
  time: TimeLimit,
): Promise<CachedOrder> {
  const rebuild = function* (view: ShowView): Steps<CachedOrder> {
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, content.asOf)
    yield* evaluation.rank()
    const front = yield* frontOf(evaluation, query.options)
    const verdict = yield* verdictOf(evaluation)
    const order = new CachedOrder({ evaluation, front, verdict, warnings: warningsOf(query, embedded, evaluation) })
    if (order.digest !== content.digest) throw cursorExpired()
    return order
  }
  return state.lookInSteps(requester, rebuild, time)
}

/**
 * Cursors of `beliefs.query` (BQ-143 to BQ-147): where a page ended, unreadable and unforgeable. In them is nothing that the
 * requester could not work out: equal states give equal bytes, whatever is hidden.
 */
export interface CursorContent {
  readonly asOf: Instant
  readonly boundary: Boundary
  /** Results up to the boundary, those that an offset skipped among them. */
  readonly passed: number
  /** Of all that the order rests on: see `digestOf`. */
  readonly digest: string
}

/** Whose cursor it is: the requester's, for this question. */
export interface CursorOwner {
  readonly question: string
  readonly requester: string
}

const HASH_LENGTH = 32

/** Names the query without what may change from page to page: cursor, limit, offset, and how it is told. */
export function questionHash({ semantic, filters, context, weights, options }: CheckedQuery): string {
  const { scope, diversity, temporalIntent, mergeStrategy, minSimilarity } = options
  const { warnings: _, ...asked } = context
  const order = { scope, diversity, temporalIntent, mergeStrategy, minSimilarity }
  const question = { semantic, filters, context: asked, weights, ...order }
  const plain = JSON.stringify(question, (_name, value) => (value instanceof Set ? [...value].sort() : value))
  return sha256(canonicalJson(JSON.parse(plain) as Json)).slice(0, HASH_LENGTH)
}

export function writeCursor(secret: string, owner: CursorOwner, content: CursorContent, now: Instant): string {
  const { asOf, boundary, passed, digest } = content
  const { final, createdAt, id } = boundary
  return sealCursor([asOf, final, createdAt, id, passed, digest], sealOf(secret, owner, now))
}

/** Throws INVALID_QUERY with the reason `cursor_invalid`, `cursor_mismatch` or `cursor_expired`. */
export function readCursor(secret: string, cursor: string, owner: CursorOwner, now: Instant): CursorContent {
  try {
    const place = openCursor(cursor, sealOf(secret, owner, now)) as [number, number, number, string, number, string]
    const [asOf, final, createdAt, id, passed, digest] = place
    return { asOf, boundary: { final, createdAt, id }, passed, digest }
  } catch (error) {
    if (error instanceof QuerentError && isReason(error.code)) throw wrong(error.code)
    throw error
  }
}

function sealOf(secret: string, { question, requester }: CursorOwner, now: Instant): CursorSeal {
  const binding = JSON.stringify(['beliefs.query', question, requester])
  return { secret, binding, now, lifetimeMs: CURSOR_LIFETIME_MS }
}

const CONSTRAINTS = {
  cursor_invalid: 'a cursor that came with an answer, unchanged',
  cursor_mismatch: 'the cursor of an earlier answer to this query',
  cursor_expired: 'a cursor whose order is still known; ask without one again',
}

type Reason = keyof typeof CONSTRAINTS

function isReason(code: string): code is Reason {
  return Object.hasOwn(CONSTRAINTS, code)
}

/** It is too old, or its order is not known any more. */
export function cursorExpired(): Error {
  return wrong('cursor_expired')
}

function wrong(reason: Reason): Error {
  const fault: Fault = {
    code: 'INVALID_QUERY',
    path: 'options.cursor',
    constraint: CONSTRAINTS[reason],
    reason,
    value: null,
  }
  return faulty([fault])
}

export interface Pages {
  /** Whether there is more to read; before the first part that may not be known. */
  readonly hasMore: boolean
  /** Results read or skipped so far. */
  readonly passed: number
  /** The next results, at most so many. */
  next(limit: number): Promise<QueryResult>
  /** Of what is next, and the order is held for it; null: there is none. */
  cursor(): string | null
  /** Lets go of the order until `goOn`, which finds it again or rejects with `cursor_expired`. */
  keep(): void
  goOn(): Promise<void>
  /** Nothing is kept for it any more, but for who comes with a cursor. */
  release(): void
}
