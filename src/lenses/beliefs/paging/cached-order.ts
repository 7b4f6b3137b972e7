/**
 * The order of a query's matches when its first page was computed. It is cached so that later pages continue in it, whatever is written
 * meanwhile (BQ-143 to BQ-145, BQ-148). It contains entry keys with the cosines, trust and memberships of that time; scores are computed
 * from them again when a page needs them. Beliefs deleted or hidden since are skipped; new ones are never added.
 */
import type { Bitset } from '../../../base/bitset.ts'
import { canonicalJson, type Json, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { onePer } from '../../../base/recent.ts'
import { hashOfTwo, textHash } from '../../../base/text-hash.ts'
import type { Steps } from '../../../base/turns.ts'
import { requesterOf } from '../../../identity/rates.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import { type CursorSeal, openCursor, sealCursor } from '../../../pipeline/cursor.ts'
import { Held } from '../../../pipeline/held.ts'
import { type ShowView, SOURCE_NUMBERS } from '../access/show.ts'
import { POOL } from '../answer/diversity.ts'
import { type Front, frontOf, settlementOf, type Verdict, verdictOf } from '../answer/front.ts'
import type { AnswerOrder, AnswerSource, Showing } from '../answer/show-page.ts'
import { type Fault, faulty } from '../errors.ts'
import { inScope, scopeRequest } from '../matching/in-scope.ts'
import { Evaluation, evaluateInSteps, warningsOf } from '../query/evaluation.ts'
import { type Boundary, compareBoundaries, type Picked, type ScoredBelief, unspread } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'

/** A query's matches with their scores, front, verdict and warnings, when their order was determined. */
export interface Ordered {
  readonly evaluation: Evaluation
  /**
   * The front: results at the beginning of the answer that were selected by diversity or conflict rules. Null: all results are simply in
   * order of score.
   */
  readonly front: Front | null
  readonly verdict: Verdict | null
  readonly warnings: readonly CheckedWarning[]
}

export function* orderedOf(
  state: BeliefsState,
  view: ShowView,
  query: CheckedQuery,
  source: AnswerSource,
): Steps<Ordered> {
  const { embedded, asOf, nodes } = source
  const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf, nodes?.leg)
  yield* evaluation.rank()
  yield
  const front = yield* frontOf(evaluation, query.options)
  const verdict = yield* verdictOf(evaluation)
  return { evaluation, front, verdict, warnings: warningsOf(query, embedded, evaluation) }
}

export class CachedOrder implements AnswerOrder {
  readonly source: AnswerSource
  readonly world: AnswerOrder['world']
  readonly warnings: readonly CheckedWarning[]
  readonly total: number
  readonly isCut: boolean
  readonly verdict: Verdict | null
  readonly digest: string
  readonly front: Front | null
  readonly #entries: Bitset
  readonly #cosines: ReadonlyMap<EntryKey, number> | null
  readonly #byWords: ReadonlySet<EntryKey>
  readonly #remotes: readonly ScoredBelief[]

  constructor({ evaluation, front, verdict, warnings }: Ordered, source: AnswerSource, digest: string) {
    const { state, question, understood, asOf, trust, requester, matches } = evaluation
    this.source = source
    this.world = { state, question, understood, asOf, trust, requester }
    this.warnings = warnings
    this.total = evaluation.total
    this.isCut = evaluation.isCut
    this.verdict = verdict
    this.digest = digest
    this.front = front
    this.#entries = matches.bits
    this.#cosines = evaluation.cosines
    this.#byWords = evaluation.byWords
    this.#remotes = evaluation.remotes
  }

  /** Approximate memory use of this cached ranked list in bytes. */
  get byteLength(): number {
    const { understood, trust } = this.world
    const vector = understood.meaning.by === 'vector' ? understood.meaning.vector.byteLength : 0
    const front = this.front === null ? 0 : POOL * (BELIEF_BYTES + vector)
    const remotes = this.source.nodes?.leg.byteLength ?? 0
    const cosines = (this.#cosines?.size ?? 0) * KEY_BYTES
    return this.#entries.byteLength + trust.byteLength + cosines + front + vector + remotes
  }

  /**
   * Returns the next results, at most `count`, after the result at which the previous page ended (`boundary`). Results that the requester
   * may no longer see are skipped. It pauses after each result of the front (selected results at the beginning) so that other work can run.
   */
  *after(showing: Showing, boundary: Boundary, count: number): Steps<readonly Picked[]> {
    const { front } = this
    const isIt = (scored: ScoredBelief) => scored.id === boundary.id && compareBoundaries(scored, boundary) === 0
    const inFront = front === null ? null : yield* front.behind(isIt, showing.view.time)
    if (inFront === null) return yield* this.#behind(showing, boundary, count)
    const found: Picked[] = []
    for (const { scored, penalty } of inFront) {
      const row = showing.view.columns.rowOf(scored.entry)
      if (showing.isSeen(scored.entry)) found.push({ scored: { ...scored, row }, penalty })
      if (found.length === count) return found
      yield
    }
    const end = front?.end ?? null
    return end === null ? found : [...found, ...(yield* this.#behind(showing, end, count - found.length))]
  }

  /**
   * Returns the next results, at most `count`, that follow the result at which the previous page ended (`boundary`), in order of score,
   * without the selection by diversity or conflict rules.
   */
  *#behind(showing: Showing, boundary: Boundary, count: number): Steps<readonly Picked[]> {
    const evaluation = yield* this.#asOfThen(showing)
    return evaluation.best(count, boundary).map(unspread)
  }

  /** Evaluates the query again over the earlier matches that still exist and are visible, as of the time when the ranked list was fixed. */
  *#asOfThen({ view, isSeen }: Showing): Steps<Evaluation> {
    const { state, question, understood, asOf, trust, requester } = this.world
    const { entries } = view.columns.arrays
    const there = inScope(scopeRequest(view, question, asOf)).where(row => {
      const entry = entries[row] as EntryKey
      return this.#entries.has(entry) && isSeen(entry)
    })
    const remotes = this.#remotes.filter(({ entry }) => isSeen(entry))
    const earlier = { trust, matches: there, cosines: this.#cosines, byWords: this.#byWords, remotes }
    const evaluation = new Evaluation(state, { ...view, requester }, question, understood, asOf, { earlier })
    yield* evaluation.rank()
    return evaluation
  }
}

const DIGEST_LENGTH = 24
const NINE_DECIMALS = 1e9

/**
 * A text that identifies the order of a query's matches: a hash of all matches and their scores. It is equal in every process that ranks
 * the matches equally, and hidden beliefs do not affect it.
 */
export function digestOf({ evaluation }: Ordered): string {
  const { matches, remotes, finals, view, state } = evaluation
  let [one, other] = [0, 0]
  const add = (id: number, final: number) => {
    const score = Math.round(final * NINE_DECIMALS)
    one = (one + hashOfTwo(id, score)) | 0
    other = (other + hashOfTwo(score, id)) | 0
  }
  for (let place = 0; place < matches.count; place++) {
    add(textHash(view.columns.idOf(matches.rows[place] as number), matches.sources[place]), finals[place] as number)
  }
  for (const { id, source, final } of remotes) add(textHash(id, SOURCE_NUMBERS[source.kind]), final)
  return sha256([one, other, evaluation.total, view.model].join()).slice(0, DIGEST_LENGTH) + settlementOf(state)
}

/** Estimated bytes in memory of a scored belief; 211 were measured. */
const BELIEF_BYTES = 300
/** Estimated bytes in memory of one key with its value in a map. */
const KEY_BYTES = 40

const CURSOR_LIFETIME_MS = 15 * 60_000

/** Limits on the cached ranked lists of one engine: number, total bytes, and lifetime in milliseconds. */
const HELD = { most: 1_000, bytes: 64 * 2 ** 20, lifetimeMs: CURSOR_LIFETIME_MS }

export const ordersOf: (state: BeliefsState) => Held<CachedOrder> = onePer(() => new Held(HELD, requesterOf))

/** Name under which an order is cached; all cursors into one order give the same name. */
export function nameOf(
  { question, requester }: CursorOwner,
  { asOf, digest }: Pick<CursorContent, 'asOf' | 'digest'>,
): string {
  return JSON.stringify([question, requester, asOf, digest])
}

/**
 * Contents of a cursor of `beliefs.query` (BQ-143 to BQ-147): the position where a page ended, encrypted and protected against forgery.
 * They contain nothing that the requester could not compute, and for equal visible states the bytes are equal, whatever is hidden.
 */
export interface CursorContent {
  readonly asOf: Instant
  readonly boundary: Boundary
  /** Number of results of the answer up to the end of the page after which the cursor continues, including results skipped by `offset`. */
  readonly passed: number
  /** Hash of all matches and their scores; if the matches now give another hash, the cursor can no longer be continued. */
  readonly digest: string
}

/** For whom and for which query a cursor is valid: the hash of the query, and the requester. */
export interface CursorOwner {
  readonly question: string
  readonly requester: string
}

const HASH_LENGTH = 32

/**
 * Hash of the fields of a query that determine the order of its results. Fields that may differ from page to page are left out: cursor,
 * limit, offset, and which parts of results are shown.
 */
export function questionHash({ semantic, filters, context, weights, options }: CheckedQuery): string {
  const { scope, diversity, temporalIntent, mergeStrategy, minSimilarity, approximate } = options
  const { warnings: _, ...asked } = context
  const order = { scope, diversity, temporalIntent, mergeStrategy, minSimilarity, approximate }
  const question = { semantic, filters, context: asked, weights, ...order }
  const plain = JSON.stringify(question, (_name, value) => (value instanceof Set ? [...value].sort() : value))
  return sha256(canonicalJson(JSON.parse(plain) as Json)).slice(0, HASH_LENGTH)
}

export function writeCursor(secret: string, owner: CursorOwner, content: CursorContent, now: Instant): string {
  const { asOf, boundary, passed, digest } = content
  const { final, createdAt, id } = boundary
  return sealCursor([asOf, final, createdAt, id, passed, digest], sealOf(secret, owner, now))
}

/** Decrypts and checks a cursor. Throws INVALID_QUERY with the reason `cursor_invalid`, `cursor_mismatch` or `cursor_expired`. */
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

/** The error for a cursor that is too old, or whose ranked list can neither be found in the cache nor be computed again. */
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
