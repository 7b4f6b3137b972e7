/**
 * What this process remembers of subscriptions for those who come back to them: how far they came, and, where their state is
 * too large to travel in tokens, how it was after each of the last events.
 */
import { Recent } from '../../base/recent.ts'
import type { Told } from './difference.ts'
import type { Delivered } from './machine.ts'

/** After more events than that one begins anew (BQ-165). */
export const MOST_EVENTS_SINCE = 1_000
/** Some hundred bytes each. */
const MOST_SUBSCRIPTIONS = 10_000
/** Up to some hundred kB each. */
const MOST_HISTORIES = 200

interface History {
  /** As it was after `#seq` events. */
  readonly now: Map<string, Told>
  asOf: number
  /** What one event replaced: the item as it had been, or null where it was not there. The last is the newest. */
  readonly undo: { readonly key: string; readonly before: Told | null; readonly asOf: number }[]
}

export class KeptStates {
  readonly #seqs = new Recent<string, { seq: number }>(MOST_SUBSCRIPTIONS)
  readonly #histories = new Recent<string, History>(MOST_HISTORIES)

  /** Events that were delivered; null: not known here. */
  seqOf(subscription: string): number | null {
    return this.#seqs.find(subscription)?.seq ?? null
  }

  delivered(subscription: string, seq: number): void {
    this.#seqs.get(subscription, () => ({ seq })).seq = seq
  }

  /** Begins to remember the state of a subscription after `seq` events. */
  keep(subscription: string, { items, asOf }: Delivered): void {
    this.forget(subscription)
    const now = new Map(items.map(item => [item.key, item]))
    this.#histories.get(subscription, () => ({ now, asOf, undo: [] }))
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
    this.#histories.forget(key => key === subscription)
  }
}
