/**
 * What this process remembers of subscriptions for those who come back to them: how far they came, when they were left, and,
 * where their state is too large to travel in tokens, how it was after each of the last events. Room is shared fairly: who
 * has much here makes nobody else begin anew.
 */
import type { Instant } from '../../base/clock.ts'
import { FairRecent } from '../../base/fair-recent.ts'
import type { Delivered, Told } from './difference.ts'

/** After more events than that one begins anew (BQ-165). */
export const MOST_EVENTS_SINCE = 1_000
/** Some hundred bytes each. */
const MOST_SUBSCRIPTIONS = 10_000
/** Up to some hundred kB each. */
const MOST_HISTORIES = 200

/** Whose memory it is: `requester` is whom it counts against. */
export interface KeptFor {
  readonly subscription: string
  readonly requester: string
}

export interface Progress {
  /** Events that were delivered. */
  readonly seq: number
  /** Null: it stands. */
  readonly left: Instant | null
}

interface History {
  /** As it is after the last event. */
  readonly now: Map<string, Told>
  asOf: number
  /** What one event replaced: the item as it had been, or null where it was not there. The last is the newest. */
  readonly undo: { readonly key: string; readonly before: Told | null; readonly asOf: number }[]
}

export class KeptStates {
  readonly #progress = new FairRecent<string, Progress>(MOST_SUBSCRIPTIONS)
  readonly #histories = new FairRecent<string, History>(MOST_HISTORIES)

  /** Null: not known here. */
  progressOf(subscription: string): Progress | null {
    return this.#progress.find(subscription) ?? null
  }

  /** It stands, and so many events were delivered. */
  delivered({ subscription, requester }: KeptFor, seq: number): void {
    this.#progress.set(subscription, requester, { seq, left: null })
  }

  left({ subscription, requester }: KeptFor, at: Instant): void {
    const progress = this.#progress.find(subscription)
    if (progress !== undefined) this.#progress.set(subscription, requester, { ...progress, left: at })
  }

  /** Begins to remember the state of a subscription. */
  keep({ subscription, requester }: KeptFor, { items, asOf }: Delivered): void {
    const now = new Map(items.map(item => [item.key, item]))
    this.#histories.set(subscription, requester, { now, asOf, undo: [] })
  }

  isKept(subscription: string): boolean {
    return this.#histories.find(subscription) !== undefined
  }

  /** One event has been delivered: `after` null where the item is gone. */
  changed(subscription: string, key: string, after: Told | null, asOf: number): void {
    const history = this.#histories.find(subscription)
    if (history === undefined) return
    history.undo.push({ key, before: history.now.get(key) ?? null, asOf: history.asOf })
    if (history.undo.length > MOST_EVENTS_SINCE) history.undo.shift()
    if (after === null) history.now.delete(key)
    else history.now.set(key, after)
    history.asOf = asOf
  }

  /** The state as it was `events` before now; null: not remembered. */
  stateBefore(subscription: string, events: number): Delivered | null {
    const history = this.#histories.find(subscription)
    if (history === undefined || events < 0 || events > history.undo.length) return null
    const state = new Map(history.now)
    let { asOf } = history
    for (const { key, before, asOf: then } of history.undo.slice(history.undo.length - events).reverse()) {
      if (before === null) state.delete(key)
      else state.set(key, before)
      asOf = then
    }
    return { items: [...state.values()].sort((a, b) => a.rank - b.rank), asOf }
  }

  forget(subscription: string): void {
    this.#histories.forget(subscription)
  }
}
