/**
 * One subscription as a machine without a world: answers and losses go in, events come out one by one, as fast as they are
 * taken and no faster than allowed. What was not taken yet is never a queue, only the difference between what was told and
 * what is: so nothing piles up, and the last state is always reached.
 */
import type { Instant } from '../../base/clock.ts'
import type { LiveItem, LiveOptions, LiveState } from '../../model/live.ts'
import {
  asTold,
  type Circumstances,
  type Delivered,
  type Difference,
  differences,
  removal,
  type Told,
  ToldItems,
} from './difference.ts'

const MINUTE_MS = 60_000

export type Cause = 'change' | 'time'

export class LiveMachine {
  readonly #options: LiveOptions
  readonly #told = new ToldItems()
  #lastAsOf: Instant
  /** What is to be told; null when there is nothing beyond what was told. */
  #wanted: LiveState | null = null
  #plan: Difference[] = []
  #opening: Circumstances['opening'] = null
  readonly #lost = new Set<string>()
  #onlyTime = false
  /** Whether the cap has held something of the plan back. */
  #held = false
  /** Machine times of the last counted events, oldest first: at most as many as a minute may have. */
  readonly #sent: number[] = []

  constructor(options: LiveOptions, delivered: Delivered) {
    this.#options = options
    this.#lastAsOf = delivered.asOf
    for (const item of delivered.items) this.#told.set(item)
  }

  /** What the subscriber was told so far: a copy. */
  get delivered(): Delivered {
    return { items: [...this.#told], asOf: this.#lastAsOf }
  }

  get asOf(): Instant {
    return this.#lastAsOf
  }

  /** Bytes of what was told in a resume token. */
  get rowsLength(): number {
    return this.#told.rowsLength
  }

  /** Items that were told. */
  get count(): number {
    return this.#told.all.size
  }

  /** What is told, and what is about to be. */
  get known(): readonly Pick<LiveItem, 'key' | 'id'>[] {
    return [...this.#told, ...(this.#wanted?.items ?? [])]
  }

  /** The first answer. `silent`: taken as told. `resync`: all of it is told, whatever was told before. */
  open(state: LiveState, how: 'initial' | 'resync' | 'continue' | 'silent'): void {
    if (how === 'silent') {
      this.#wanted = state
      for (const item of state.items) this.#told.set(asTold(item))
      this.#settle()
      return
    }
    if (how !== 'continue') {
      for (const { key } of state.items) this.#told.delete(key)
      this.#opening = { keys: new Set(state.items.map(({ key }) => key)), reason: how }
    }
    this.answered(state, 'change')
  }

  /** An answer later than all before. */
  answered(state: LiveState, cause: Cause): void {
    for (const { key } of state.items) this.#lost.delete(key)
    // What a change has done and was not told yet is told, though only time has passed since.
    this.#onlyTime = cause === 'time' && (this.#wanted === null || this.#onlyTime)
    this.#wanted = state
    this.#replan()
  }

  /** These may no longer be seen, or are gone: told at once, and nothing else of them. */
  lose(keys: readonly string[]): void {
    const known = new Set(this.known.map(({ key }) => key))
    const losses = keys.filter(key => known.has(key) && !this.#lost.has(key))
    if (losses.length === 0) return
    for (const key of losses) this.#lost.add(key)
    if (this.#wanted === null) {
      const gone = losses.map(key => removal(this.#told.get(key) as Told, 'unavailable'))
      this.#plan.push(...gone)
      return
    }
    this.#wanted = { ...this.#wanted, items: this.#wanted.items.filter(({ key }) => !this.#lost.has(key)) }
    this.#replan()
  }

  /** The next event that may go out now, which counts as told; null when there is none, or none yet. */
  take(now: number, onlyLosses = false): Difference | null {
    const next = this.peek(now, onlyLosses)
    if (next === null) {
      if (this.#plan.length === 0) this.#settle()
      return null
    }
    this.#plan.shift()
    this.#apply(next)
    const isHeld = this.#held && next.reason !== 'unavailable'
    if (this.#plan.length === 0) this.#settle()
    if (!this.#isFree(next)) this.#count(now)
    return isHeld ? { ...next, details: { ...next.details, held: true } } : next
  }

  /** What `take` would give next, if anything, before it is told. */
  peek(now: number, onlyLosses = false): Difference | null {
    for (;;) {
      const next = this.#plan[0]
      if (next === undefined || (onlyLosses && next.reason !== 'unavailable')) return null
      if (!this.#isSilent(next)) return this.#waits(next, now) ? null : next
      // Nobody wants to hear of it: what comes behind it is the next.
      this.#plan.shift()
      this.#apply(next)
      if (this.#plan.length === 0) this.#settle()
    }
  }

  /** Whether an event may go out now. */
  ready(now: number, onlyLosses = false): boolean {
    const next = this.#plan[0]
    if (next === undefined || (onlyLosses && next.reason !== 'unavailable')) return false
    return this.#isSilent(next) || !this.#waits(next, now)
  }

  /** When the cap lets the next event out; null when nothing waits for that. */
  heldUntil(now: number): number | null {
    const next = this.#plan[0]
    return next !== undefined && this.#waits(next, now) ? (this.#sent[0] as number) + MINUTE_MS : null
  }

  #replan(): void {
    const wanted = this.#wanted as LiveState
    this.#plan = differences(this.#told.all, wanted, {
      options: this.#options,
      lastAsOf: this.#lastAsOf,
      opening: this.#opening,
      lost: this.#lost,
      onlyTime: this.#onlyTime,
    })
    if (this.#plan.length === 0) this.#settle()
  }

  #apply({ key, now }: Difference): void {
    if (now === null) this.#told.delete(key)
    else this.#told.set(asTold(now))
    if (now === null) this.#lost.delete(key)
  }

  /** All was told: places that are not told by themselves are taken as known, and so is the moment. */
  #settle(): void {
    this.#held = false
    if (this.#wanted === null) return
    const { items, asOf } = this.#wanted
    const told = items.map(item => ({ before: this.#told.get(item.key) as Told, item }))
    this.#told.clear()
    for (const { before, item } of told) {
      const rank = this.#options.includeReranks ? before.rank : item.rank
      const now = asTold(item)
      const fields = before.version === now.version ? now.fields : before.fields
      this.#told.set({ ...before, rank, fields })
    }
    this.#lost.clear()
    this.#lastAsOf = asOf
    this.#opening = null
    this.#onlyTime = false
    this.#wanted = null
  }

  /** Whether it has to wait for the cap. */
  #waits(next: Difference, now: number): boolean {
    if (next.reason === 'unavailable' || this.#isFree(next)) return false
    const oldest = this.#sent[0]
    const isFull = this.#sent.length >= this.#options.maxEventsPerMinute
    const waits = isFull && oldest !== undefined && now < oldest + MINUTE_MS
    if (waits) this.#held = true
    return waits
  }

  #isSilent({ type }: Difference): boolean {
    return type === 'removed' && !this.#options.includeRemovals
  }

  /** What a subscription begins with does not count. */
  #isFree({ reason }: Difference): boolean {
    return reason === 'initial' || reason === 'resync'
  }

  #count(now: number): void {
    this.#sent.push(now)
    if (this.#sent.length > this.#options.maxEventsPerMinute) this.#sent.shift()
  }
}
