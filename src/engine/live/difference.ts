/**
 * Compares two pages: the net difference between what a subscriber has and an answer, in the order in which it is sent
 * (BQ-160). Every subscription, of whatever lens and interface, is compared here.
 */
import { type JsonObject, sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { LiveEvent, LiveItem, LiveName, LiveOptions, LiveReason, LiveState } from '../../model/live.ts'

const MINUTE_MS = 60_000

/** An item as the subscriber has it. */
export interface SentItem extends Omit<LiveItem, 'since' | 'shown' | 'fields'> {
  /** Null: not known, since the subscriber came back with a token. */
  readonly fields: Readonly<Record<string, string>> | null
  /** Bytes that it takes in a resume token. */
  readonly bytes: number
}

/** What a subscriber has, in rank order, and the moment of the last answer that was sent completely. */
export interface Delivered {
  readonly items: readonly SentItem[]
  readonly asOf: Instant
}

export interface Difference extends LiveName {
  readonly type: LiveEvent['type']
  readonly reason: LiveReason
  readonly details: JsonObject
  /** The item from now on; null where it is gone. */
  readonly now: LiveItem | null
}

interface Circumstances {
  readonly includeReranks: boolean
  /** Moment of the last answer that was sent completely: what is younger is new. */
  readonly lastAsOf: Instant
  /** Items that belong to how the subscription began. */
  readonly opening: { readonly keys: ReadonlySet<string>; readonly reason: 'initial' | 'resync' } | null
  /** Keys of what the viewer may no longer see. */
  readonly lost: ReadonlySet<string>
  /** Nothing but time has passed: items come and go, and none is updated or reranked (BQ-158). */
  readonly onlyTime: boolean
}

/** Removals first, in the order of `sent`; then the others in the order of the answer. */
function differences(
  sent: ReadonlyMap<string, SentItem>,
  state: LiveState,
  circumstances: Circumstances,
): Difference[] {
  const present = new Set(state.items.map(item => item.key))
  const gone = [...sent.values()].filter(({ key }) => !present.has(key))
  const removals = gone.map(item => removal(item, reasonToGo(item, state, circumstances)))
  // A loss of access goes before all else: it must not wait.
  const lost = removals.filter(({ reason }) => reason === 'unavailable')
  const others = removals.filter(({ reason }) => reason !== 'unavailable')
  const changes = state.items.map(item => changeOf(sent.get(item.key), item, circumstances))
  return [...lost, ...others, ...changes.filter(change => change !== null)]
}

function removal({ key, id, passage, score, rank }: SentItem, reason: LiveReason): Difference {
  // An item that is no longer available is reported by its id alone (BQ-161), a passage by its position as well.
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

/** Short enough to travel in tokens; two in 10¹⁴ are taken for the same. */
function digest(text: string): string {
  return text.length <= DIGEST_LENGTH ? text : sha256(text).slice(0, DIGEST_LENGTH)
}

const DIGEST_LENGTH = 12

/**
 * An item in a resume token, short for a header line: key, id (as a number: the rest of the key from that position), version,
 * standing, score, rank, passage.
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
 * One subscription without a world: answers and losses go in, events come out one by one, as fast as they are taken and no
 * faster than allowed. What was not taken yet is never a queue, only the difference between what the subscriber has and what
 * is: so nothing piles up, and the last state is always reached.
 */
export class LiveMachine {
  readonly #options: LiveOptions
  /** In the order of ranks, as long as events are sent in it. */
  readonly #sent = new Map<string, SentItem>()
  /** The part of the subscriber's list that a resume token carries. */
  bytes = 0
  /** Moment of the last answer that was sent completely. */
  asOf: Instant
  /** What is to be sent; null when there is nothing beyond what was sent. */
  #wanted: LiveState | null = null
  #plan: Difference[] = []
  #opening: Circumstances['opening'] = null
  readonly #lost = new Set<string>()
  #onlyTime = false
  /** Machine times of the last counted events, oldest first: at most as many as a minute may have. */
  readonly #times: number[] = []

  constructor(options: LiveOptions, delivered: Delivered) {
    this.#options = options
    this.asOf = delivered.asOf
    for (const item of delivered.items) this.#set(item)
  }

  /** What the subscriber has: a copy. */
  get delivered(): Delivered {
    return { items: [...this.#sent.values()], asOf: this.asOf }
  }

  /** What the subscriber has, and what is about to be sent. */
  get known(): readonly LiveName[] {
    return [...this.#sent.values(), ...(this.#wanted?.items ?? [])]
  }

  /** The first answer. `silent`: taken as sent. `resync`: all of it is sent, whatever was sent before. */
  open(state: LiveState, how: 'initial' | 'resync' | 'continue' | 'silent'): void {
    if (how === 'silent') for (const item of state.items) this.#set(asSent(item))
    if (how === 'initial' || how === 'resync') {
      for (const { key } of state.items) this.#delete(key)
      this.#opening = { keys: new Set(state.items.map(({ key }) => key)), reason: how }
    }
    this.answered(state, 'change')
  }

  /** An answer later than all before. */
  answered(state: LiveState, cause: Cause): void {
    for (const { key } of state.items) this.#lost.delete(key)
    // The effect of a change that was not sent yet is sent, though only time has passed since.
    this.#onlyTime = cause === 'time' && (this.#wanted === null || this.#onlyTime)
    this.#wanted = state
    this.#replan()
  }

  /** These may no longer be seen, or are gone: sent at once, and nothing else of them. */
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

  /** The next event that may go out now, which counts as sent; null when there is none, or none yet. `now`: machine time. */
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

  /** What `take` would give. */
  peek(now: number, onlyLosses = false): Difference | null {
    const next = this.#plan[0]
    if (next === undefined || (onlyLosses && next.reason !== 'unavailable') || this.#waits(next, now)) return null
    return next
  }

  /** When the cap lets the next event out; null when nothing waits for that. */
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

  /** A removal that nobody wants to hear of has no event: it counts as sent. */
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

  /** All was sent: places that have no event of their own are taken as known, and so is the moment. */
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

  /** Whether it has to wait for the cap. */
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

/** What a subscription begins with does not count against the cap. */
function isFree({ reason }: Difference): boolean {
  return reason === 'initial' || reason === 'resync'
}
