/**
 * The order of one query's matches, as of the moment of its first page: what is held so that later pages go on in it,
 * whatever is written meanwhile (BQ-143 to BQ-145, BQ-148). Matches are held as entry keys, with the trust, the memberships
 * and the question's vectors of then; scores are worked out again from these as pages ask for them. What has gone since, or
 * out of sight, is passed over; what came since never comes in.
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { requesterOf } from '../../../identity/requester.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { Held } from '../../../pipeline/held.ts'
import { isSeen } from '../access/is-seen.ts'
import type { Requester } from '../access/requester.ts'
import type { ShowView } from '../access/show.ts'
import { beginningOf, type Front, frontOf, settlementOf } from '../answer/front.ts'
import { POOL } from '../answer/spread.ts'
import { inScope, scopeRequest } from '../matching/in-scope.ts'
import type { FrozenEntries } from '../matching/matches.ts'
import { evaluateInSteps } from '../query/evaluate.ts'
import { Evaluation } from '../query/evaluation.ts'
import type { Question, Understood } from '../query/question.ts'
import type { Embedded } from '../query/understand.ts'
import { byOrder, type Picked, type ScoredBelief } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/context.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'
import type { HolderTrust } from '../trust/holders.ts'
import { type Boundary, CURSOR_LIFETIME_MS, type CursorContent, type CursorOwner, cursorExpired } from './cursor.ts'
import { digestOf } from './digest.ts'

/** Scored ahead of what a page asks for: at least so many, or so many times as many. */
const AHEAD = 256
const AHEAD_TIMES = 4

/** A part of the total order: what stands right behind a boundary, as far as it could be seen when it was made. */
interface Stretch {
  /** Replaced when memberships change: sight that was lost may come back. */
  readonly seenBy: Requester
  readonly after: Boundary
  readonly scored: readonly ScoredBelief[]
  /** Down to the end of the order. */
  readonly isWhole: boolean
}

interface FirstPage {
  readonly evaluation: Evaluation
  /** Null: results stand in the total order. */
  readonly front: Front | null
  readonly warnings: readonly CheckedWarning[]
}

export class HeldOrder {
  readonly state: BeliefsState
  readonly question: Question
  readonly understood: Understood
  readonly asOf: Instant
  readonly warnings: readonly CheckedWarning[]
  /** All that matched. */
  readonly total: number
  readonly digest: string
  readonly trust: HolderTrust
  /** As memberships were. */
  readonly requester: Requester
  /** Null: results stand in the total order. */
  readonly front: Front | null
  readonly #entries: FrozenEntries
  readonly #late: ReadonlySet<EntryKey>
  #stretch: Stretch | null = null

  constructor({ evaluation, front, warnings }: FirstPage) {
    const { state, question, understood, asOf, trust, requester, matches, view } = evaluation
    this.state = state
    this.question = question
    this.understood = understood
    this.asOf = asOf
    this.warnings = warnings
    this.trust = trust
    this.requester = requester
    this.total = matches.count
    this.digest = digestOf(evaluation) + settlementOf(state)
    this.#entries = matches.frozen()
    this.#late = new Set(evaluation.withoutVector(matches).map(row => view.columns.arrays.entries[row] as EntryKey))
    this.front = front
  }

  /** Near enough. Grows when a longer stretch is made. */
  get byteLength(): number {
    const vector = this.understood.meaning.by === 'vector' ? this.understood.meaning.vector.byteLength : 0
    const front = this.front === null ? 0 : POOL * (BELIEF_BYTES + vector)
    const ahead = Math.max(AHEAD, this.#stretch?.scored.length ?? 0) * BELIEF_BYTES
    const keys = (this.#entries.less.size + this.#late.size) * KEY_BYTES
    return this.#entries.among.byteLength + this.trust.byteLength + keys + ahead + front + vector
  }

  /** At most so many of those behind a boundary, which may be seen still; their rows are the view's. A step for each in front. */
  *after(view: ShowView, boundary: Boundary, passed: number, count: number): Steps<readonly Picked[]> {
    const { front } = this
    const isIt = (scored: ScoredBelief) => scored.id === boundary.id && compare(scored, boundary) === 0
    const inFront = front === null ? null : yield* front.behind(isIt, view.time)
    if (inFront === null) return this.#behind(view, boundary, passed, count)
    const found: readonly Picked[] = yield* this.#seenOf(view, inFront, count)
    const end = front?.end ?? null
    if (end === null || found.length === count) return found
    return [...found, ...this.#behind(view, end, passed, count - found.length)]
  }

  /** In the total order. */
  #behind(view: ShowView, boundary: Boundary, passed: number, count: number): readonly Picked[] {
    const known = this.#stretch && this.#inStretch(view, this.#stretch, boundary, count)
    if (known !== null) return known
    this.#stretch = this.#stretchFrom(view, boundary, passed, count)
    return this.#inStretch(view, this.#stretch, boundary, count) ?? []
  }

  /** Whether the last result passed is this one: not so where the order has become another one. */
  *stands(
    { boundary, passed }: { readonly boundary: Boundary; readonly passed: number },
    evaluation: Evaluation,
  ): Steps<boolean> {
    const order = yield* beginningOf(evaluation, this.front, passed)
    const last = order[passed - 1]?.scored
    return order.length === passed && last !== undefined && compare(last, boundary) === 0
  }

  /** Null: they stand further up or down. */
  #inStretch(view: ShowView, stretch: Stretch, boundary: Boundary, count: number): readonly Picked[] | null {
    if (stretch.seenBy !== view.requester || compare(boundary, stretch.after) < 0) return null
    const found: Picked[] = []
    for (const scored of stretch.scored) {
      if (compare(scored, boundary) <= 0) continue
      const seen = this.#seen(view, scored)
      if (seen !== null) found.push({ scored: seen, penalty: 0 })
      if (found.length === count) return found
    }
    return stretch.isWhole ? found : null
  }

  #stretchFrom(view: ShowView, after: Boundary, passed: number, count: number): Stretch {
    const evaluation = this.#evaluation(view)
    const left = evaluation.matches.count
    for (let ahead = Math.max(AHEAD, AHEAD_TIMES * count); ; ahead *= 2) {
      const order = evaluation.best(passed + ahead)
      const scored = order.filter(each => compare(each, after) > 0)
      const isWhole = order.length >= left
      if (isWhole || scored.length >= count) return { seenBy: view.requester, after, scored, isWhole }
    }
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

  /** As of then, over those of its matches that are there still. */
  #evaluation(view: ShowView): Evaluation {
    const { among, less } = this.#entries
    const { entries } = view.columns.arrays
    const there = inScope(scopeRequest(view, this.question, this.asOf)).where(row => {
      const entry = entries[row] as EntryKey
      return among.has(entry) && !less.has(entry)
    })
    const earlier = { trust: this.trust, matches: there, late: this.#late }
    const then = { ...view, requester: this.requester }
    return new Evaluation(this.state, then, this.question, this.understood, this.asOf, earlier)
  }
}

/** Of one that was scored: 211 were measured. */
const BELIEF_BYTES = 300
/** In a set. */
const KEY_BYTES = 32

/** Of one query no two have the same id. */
function compare(a: Boundary, b: Boundary): number {
  return byOrder({ ...a, holder: null } as ScoredBelief, { ...b, holder: null } as ScoredBelief)
}

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
export function orderAt(state: BeliefsState, name: string, requester: string): HeldOrder | null {
  const found = ordersOf(state).find(name, requester, state.host.clock.now())
  return found instanceof HeldOrder ? found : null
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
): Promise<HeldOrder> {
  const rebuild = function* (view: ShowView): Steps<HeldOrder> {
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, content.asOf)
    const front = yield* frontOf(evaluation, query.options)
    const order = new HeldOrder({ evaluation, front, warnings: warningsOf(query, embedded, evaluation) })
    if (order.digest !== content.digest || !(yield* order.stands(content, evaluation))) throw cursorExpired()
    return order
  }
  return state.lookInSteps(requester, rebuild, time)
}

export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...pending(evaluation)]
}

function pending(evaluation: Evaluation): readonly CheckedWarning[] {
  const count = evaluation.withoutVector(evaluation.matches).length
  if (count === 0) return []
  const message = `${count} of the beliefs that match have no vector yet: they rank as if they had nothing to do with the text.`
  return [{ code: 'vectors_pending', message }]
}
