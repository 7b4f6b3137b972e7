/**
 * Computes the changes between what a subscriber to a query has and a new answer, in the order in which they are sent as events (BQ-160).
 * Used for the subscriptions of all lenses and interfaces.
 */
import { type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { LiveEvent, LiveItem, LiveName, LiveOptions, LiveReason, LiveState } from '../../model/live.ts'

const MINUTE_MS = 60_000

/** An item of a query's answer in the state in which a subscriber last received it. */
export interface SentItem extends Omit<LiveItem, 'since' | 'shown' | 'fields'> {
  /**
   * Values of the item's fields when it was last sent to the subscriber. Null: unknown, because a resume token, from which this
   * subscription continued, does not contain them.
   */
  readonly fields: Readonly<Record<string, string>> | null
  /** Number of bytes that this item takes in a resume token, which lists the items that a subscriber has. */
  readonly bytes: number
}

/** The items that a subscriber has received, in rank order, and the time of the last answer whose changes have all been sent. */
export interface Delivered {
  readonly items: readonly SentItem[]
  readonly asOf: Instant
}

export interface Difference extends LiveName {
  readonly type: LiveEvent['type']
  readonly reason: LiveReason
  readonly details: JsonObject
  /** The item as it is after this change of the answer; null if the change removes the item. */
  readonly now: LiveItem | null
}

interface Circumstances {
  readonly includeReranks: boolean
  /**
   * Time of the last answer whose changes have all been sent to the subscriber. An item that was stored at or after this time counts as
   * new.
   */
  readonly lastAsOf: Instant
  /**
   * Keys of items that are sent because the subscription has just begun (`initial`) or has had to start again (`resync`); null: neither is
   * the case.
   */
  readonly opening: { readonly keys: ReadonlySet<string>; readonly reason: 'initial' | 'resync' } | null
  /** Keys of items that the subscriber has received but may no longer see. */
  readonly lost: ReadonlySet<string>
  /**
   * Whether nothing was written since the last answer. Then only the passing of time can have changed the answer, so events report added
   * and removed items, but no updated or reranked ones (BQ-158).
   */
  readonly onlyTime: boolean
}

/**
 * The changes that turn what a subscriber has into a new answer: first the removals, in the order in which the subscriber has the items,
 * then the other changes in the order of the answer.
 */
function differences(
  sent: ReadonlyMap<string, SentItem>,
  state: LiveState,
  circumstances: Circumstances,
): Difference[] {
  const present = new Set(state.items.map(item => item.key))
  const gone = [...sent.values()].filter(({ key }) => !present.has(key))
  const removals = gone.map(item => removal(item, reasonToGo(item, state, circumstances)))
  // The removal of an item that the viewer may no longer see is sent before all other events, because it must not wait for the rate limit.
  const lost = removals.filter(({ reason }) => reason === 'unavailable')
  const others = removals.filter(({ reason }) => reason !== 'unavailable')
  const changes = state.items.map(item => changeOf(sent.get(item.key), item, circumstances))
  return [...lost, ...others, ...changes.filter(change => change !== null)]
}

function removal({ key, id, passage, score, rank }: SentItem, reason: LiveReason): Difference {
  // The removal of an item that the viewer may no longer see contains only the id of the item (BQ-161), and the position if the item is a
  // passage.
  const details: JsonObject = reason === 'unavailable' ? {} : { previous_score: score, previous_rank: rank }
  return { type: 'removed', key, id, passage, reason, details, now: null }
}

function reasonToGo({ key }: SentItem, state: LiveState, { lost, opening }: Circumstances): LiveReason {
  if (lost.has(key)) return 'unavailable'
  if (opening?.reason === 'resync') return 'resync'
  return state.full && (state.matches?.(key) ?? true) ? 'outranked' : 'no_match'
}

function changeOf(before: SentItem | undefined, item: LiveItem, circumstances: Circumstances): Difference | null {
  const { key, id, passage, score, rank } = item
  const change = (type: Difference['type'], reason: LiveReason, details: JsonObject): Difference => {
    return { type, key, id, passage, reason, details, now: item }
  }
  if (before === undefined) return change('added', reasonToCome(item, circumstances), { score, new_rank: rank })
  if (circumstances.onlyTime) return null
  const moved = { previous_score: before.score, score, previous_rank: before.rank, new_rank: rank }
  if (before.version !== digest(item.version)) {
    const previous = before.id === id ? {} : { previous_id: before.id }
    return change('updated', 'content_changed', { ...moved, ...changedFields(before, item), ...previous })
  }
  if (before.standing !== digest(item.standing)) return change('updated', 'score_changed', moved)
  if (!circumstances.includeReranks || before.rank === rank) return null
  return change('reranked', 'rank_changed', moved)
}

function reasonToCome({ key, since }: LiveItem, { opening, lastAsOf, onlyTime }: Circumstances): LiveReason {
  if (opening?.keys.has(key)) return opening.reason
  return !onlyTime && since >= lastAsOf ? 'new_match' : 'now_matches'
}

function changedFields({ fields: before }: SentItem, { fields }: LiveItem): JsonObject {
  if (before === null) return {}
  const names = [...new Set([...Object.keys(before), ...Object.keys(fields)])].sort()
  return { changed_fields: names.filter(name => before[name] !== fields[name]) }
}

export function asSent(item: LiveItem): SentItem {
  const { key, id, passage, version, standing, score, rank, fields } = item
  const sent = { key, id, passage, version: digest(version), standing: digest(standing), score, rank, fields }
  return { ...sent, bytes: Buffer.byteLength(JSON.stringify(asRow(sent))) + 1 }
}

/**
 * Digest of a text, short enough for resume tokens: 12 hexadecimal digits, or the text itself if it is no longer than that. Two different
 * longer texts have equal digests with a probability of 1 in 2.8·10¹⁴.
 */
function digest(text: string): string {
  return text.length <= DIGEST_LENGTH ? text : sha256(text).slice(0, DIGEST_LENGTH)
}

const DIGEST_LENGTH = 12

/**
 * One item of an answer in a resume token, short enough for an HTTP header line: key, id (or its position in the key, if the key ends with
 * the id), hash of the item's fields, hash of the values that its ranking was based on (`standing`), score, rank, and for a passage its
 * chunk.
 */
export type TokenRow = [string, string | number, string, string, number, number, number?]

export function asRow({ key, id, passage, version, standing, score, rank }: Omit<SentItem, 'bytes'>): TokenRow {
  const shortId = key.endsWith(id) ? key.length - id.length : id
  const row = [key, shortId, version, standing, Number(score.toPrecision(9)), rank] as const
  return passage === undefined ? [...row] : [...row, passage]
}

export function fromRow(row: TokenRow): SentItem {
  const [key, shortId, version, standing, score, rank, passage] = row
  const id = typeof shortId === 'number' ? key.slice(shortId) : shortId
  const bytes = Buffer.byteLength(JSON.stringify(row)) + 1
  return { key, id, passage, version, standing, score, rank, fields: null, bytes }
}

export type Cause = 'change' | 'time'

/**
 * State machine of one subscription, without input or output: answers and losses of access go in, and events come out one by one, as fast
 * as the subscriber takes them and within the rate limit. Events that wait are not stored; they are computed as the difference between what
 * the subscriber has and the present answer, so nothing piles up and the latest state is always reached.
 */
export class LiveMachine {
  readonly #options: LiveOptions
  /** Items that the subscriber has received, by item key. They are in rank order unless events were sent in another order. */
  readonly #sent = new Map<string, SentItem>()
  /** Number of bytes that the list of all items of the subscriber takes in a resume token. */
  bytes = 0
  /** Time of the last answer whose changes have all been sent to the subscriber. */
  asOf: Instant
  /** The answer whose changes are being sent; null if all of them have been sent. */
  #wanted: LiveState | null = null
  #plan: Difference[] = []
  #opening: Circumstances['opening'] = null
  readonly #lost = new Set<string>()
  #onlyTime = false
  /**
   * Machine times at which the latest events that count against the rate limit were sent, oldest first; no more than the number of events
   * allowed per minute.
   */
  readonly #times: number[] = []

  constructor(options: LiveOptions, delivered: Delivered) {
    this.#options = options
    this.asOf = delivered.asOf
    for (const item of delivered.items) this.#set(item)
  }

  /** Copy of the list of items that the subscriber has received, with the time of the last answer that was sent completely. */
  get delivered(): Delivered {
    return { items: [...this.#sent.values()], asOf: this.asOf }
  }

  /** The items whose access must be checked: those that the subscriber has received and those of the answer that is being sent. */
  get known(): readonly LiveName[] {
    return [...this.#sent.values(), ...(this.#wanted?.items ?? [])]
  }

  /**
   * Begins with the first answer. `how` is `initial` or `resync` if all of its items are to be sent (after a fresh start or a restart),
   * `continue` if only changes to what the subscriber has are to be sent, and `silent` if all items count as sent.
   */
  open(state: LiveState, how: 'initial' | 'resync' | 'continue' | 'silent'): void {
    if (how === 'silent') for (const item of state.items) this.#set(asSent(item))
    if (how === 'initial' || how === 'resync') {
      for (const { key } of state.items) this.#delete(key)
      this.#opening = { keys: new Set(state.items.map(({ key }) => key)), reason: how }
    }
    this.answered(state, 'change')
  }

  /** Replaces the answer whose changes are being sent by a later one. */
  answered(state: LiveState, cause: Cause): void {
    for (const { key } of state.items) this.#lost.delete(key)
    // An answer that was computed only because time has passed causes only events that time can cause, such as the expiry of an item. If
    // changes of an earlier write have not all been sent yet, other events are still allowed.
    this.#onlyTime = cause === 'time' && (this.#wanted === null || this.#onlyTime)
    this.#wanted = state
    this.#replan()
  }

  /**
   * Records items that the viewer may no longer see or that no longer exist: their removal becomes the next event, and no other event about
   * them is sent.
   */
  lose(keys: readonly string[]): void {
    const known = new Set(this.known.map(({ key }) => key))
    const losses = keys.filter(key => known.has(key) && !this.#lost.has(key))
    if (losses.length === 0) return
    for (const key of losses) this.#lost.add(key)
    if (this.#wanted === null) {
      this.#extend(losses.map(key => removal(this.#sent.get(key) as SentItem, 'unavailable')))
      return
    }
    this.#wanted = { ...this.#wanted, items: this.#wanted.items.filter(({ key }) => !this.#lost.has(key)) }
    this.#replan()
  }

  /**
   * Removes and returns the next event that may be sent at the machine time `now`, and counts it as sent; null if there is none, or the
   * rate limit does not allow one yet.
   */
  take(now: number, onlyLosses = false): Difference | null {
    const next = this.peek(now, onlyLosses)
    if (next === null) return null
    this.#plan.shift()
    this.#apply(next)
    if (this.#plan.length === 0) this.#settle()
    if (!isFree(next)) this.#times.push(now)
    if (this.#times.length > this.#options.maxEventsPerMinute) this.#times.shift()
    return next
  }

  /**
   * The event that would be sent next at the machine time `now`, without removing it; null if none may be sent. `onlyLosses`: return only a
   * removal of an item that the viewer may no longer see.
   */
  peek(now: number, onlyLosses = false): Difference | null {
    const next = this.#plan[0]
    if (next === undefined || (onlyLosses && next.reason !== 'unavailable') || this.#waits(next, now)) return null
    return next
  }

  /** Machine time at which the rate limit allows the next event to be sent; null if no event is held back by the limit. */
  heldUntil(now: number): number | null {
    const next = this.#plan[0]
    return next !== undefined && this.#waits(next, now) ? (this.#times[0] as number) + MINUTE_MS : null
  }

  #replan(): void {
    this.#plan = []
    this.#extend(
      differences(this.#sent, this.#wanted as LiveState, {
        includeReranks: this.#options.includeReranks,
        lastAsOf: this.asOf,
        opening: this.#opening,
        lost: this.#lost,
        onlyTime: this.#onlyTime,
      }),
    )
    if (this.#plan.length === 0) this.#settle()
  }

  /** If the subscriber does not want removals as events, a removed item is dropped from the subscriber's list without an event. */
  #extend(changes: readonly Difference[]): void {
    for (const change of changes) {
      if (change.type === 'removed' && !this.#options.includeRemovals) this.#apply(change)
      else this.#plan.push(change)
    }
  }

  #apply({ key, now }: Difference): void {
    if (now !== null) this.#set(asSent(now))
    else {
      this.#delete(key)
      this.#lost.delete(key)
    }
  }

  /**
   * Called when all events of an answer were sent. Records what was not worth an event of its own, such as small changes of rank, and the
   * time of the answer as known to the subscriber.
   */
  #settle(): void {
    if (this.#wanted === null) return
    const { items, asOf } = this.#wanted
    const sent = items.map(item => ({ before: this.#sent.get(item.key) as SentItem, item }))
    this.#sent.clear()
    this.bytes = 0
    for (const { before, item } of sent) {
      const rank = this.#options.includeReranks ? before.rank : item.rank
      this.#set({ ...before, rank, fields: before.version === asSent(item).version ? item.fields : before.fields })
    }
    this.#lost.clear()
    this.asOf = asOf
    this.#opening = null
    this.#onlyTime = false
    this.#wanted = null
  }

  /** Whether an event must wait at the machine time `now` because of the rate limit of events per minute. */
  #waits(next: Difference, now: number): boolean {
    if (next.reason === 'unavailable' || isFree(next)) return false
    const isFull = this.#times.length >= this.#options.maxEventsPerMinute
    return isFull && now < (this.#times[0] as number) + MINUTE_MS
  }

  #set(item: SentItem): void {
    this.bytes += item.bytes - (this.#sent.get(item.key)?.bytes ?? 0)
    this.#sent.set(item.key, item)
  }

  #delete(key: string): void {
    this.bytes -= this.#sent.get(key)?.bytes ?? 0
    this.#sent.delete(key)
  }
}

/** The events that deliver the first answer of a subscription do not count against the rate limit. */
function isFree({ reason }: Difference): boolean {
  return reason === 'initial' || reason === 'resync'
}
