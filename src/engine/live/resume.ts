/**
 * Going on after a connection was lost. A resume token holds what the subscriber has, sealed for the one who may bring it
 * back: so it outlives the process. A larger state stays in the memory of this process, and its token names it.
 */
import { canonicalJson } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { seal, unseal } from '../../base/sealed.ts'
import { requesterOf } from '../../identity/rates.ts'
import { QuerentError } from '../../model/errors.ts'
import type { LiveQuery } from '../../model/live.ts'
import { Held } from '../../pipeline/held.ts'
import { asRow, type Delivered, fromRow, type SentItem, type TokenRow } from './difference.ts'

/** After more events, or more time, a subscription begins again (BQ-165). */
export const MAX_EVENTS_SINCE = 1_000
export const TOKEN_LIFE_MS = 10 * 60_000
/** More do not travel: a token must fit into a header line (Last-Event-ID), about 4,000 characters when sealed. */
export const MAX_ITEM_BYTES = 2_700
/** Some hundred bytes each. */
const MAX_SUBSCRIPTIONS = 10_000
/** Up to some hundred kB each. */
const MAX_HISTORIES = 200
const UNBOUNDED = { bytes: Number.POSITIVE_INFINITY, lifetimeMs: Number.POSITIVE_INFINITY }

export interface Resumption extends Pick<Delivered, 'asOf'> {
  readonly subscription: string
  readonly seq: number
  /** When the token was given. */
  readonly at: Instant
  /** Null: too large to travel. */
  readonly items: readonly SentItem[] | null
}

export function writeToken(secret: string, source: LiveQuery, resumption: Resumption): string {
  const { subscription, seq, at, asOf, items } = resumption
  return seal(secret, bindingOf(source), JSON.stringify([subscription, seq, at, asOf, items?.map(asRow) ?? null]))
}

/** Throws `resume_invalid`. */
export function readToken(secret: string, source: LiveQuery, token: string): Resumption {
  const text = unseal(secret, bindingOf(source), token)
  if (text === null) {
    const message = 'resume_token: it does not belong to this query'
    throw new QuerentError('resume_invalid', message, { field: 'resume_token' })
  }
  // Sealed, so the shape is as it was written.
  const [subscription, seq, at, asOf, rows] = JSON.parse(text) as [string, number, number, number, TokenRow[] | null]
  return { subscription, seq, at, asOf, items: rows?.map(fromRow) ?? null }
}

/** With the version of what is sealed: a token of another version is not opened. */
function bindingOf({ viewer, binding }: LiveQuery): string {
  return canonicalJson({ use: 'resume a live query', version: 2, viewer: viewer.id, question: binding })
}

interface History {
  /** As it is after the last event. */
  readonly now: Map<string, SentItem>
  asOf: Instant
  /** What one event replaced: the item before, or null where it was not there. The last is the newest. */
  readonly undo: { readonly key: string; readonly before: SentItem | null; readonly asOf: Instant }[]
}

/** By subscription and viewer. Capacity is shared fairly: a requester with much here takes nothing from others. */
export class KeptStates {
  readonly #seqs = new Held<{ seq: number }>({ most: MAX_SUBSCRIPTIONS, ...UNBOUNDED }, requesterOf)
  readonly #histories = new Held<History>({ most: MAX_HISTORIES, ...UNBOUNDED }, requesterOf)

  /** Of the last event; null: not known here. */
  seqOf(subscription: string, viewer: string): number | null {
    return this.#seqs.find(subscription, viewer, 0)?.seq ?? null
  }

  reached(subscription: string, viewer: string, seq: number): void {
    const known = this.#seqs.find(subscription, viewer, 0)
    if (known === null) this.#seqs.hold(subscription, viewer, { seq }, 0, 0)
    else known.seq = seq
  }

  /** Begins to keep the state of a subscription, unless it is kept. */
  keep(subscription: string, viewer: string, delivered: () => Delivered): void {
    if (this.#histories.find(subscription, viewer, 0) !== null) return
    const { items, asOf } = delivered()
    const now = new Map(items.map(item => [item.key, item]))
    this.#histories.hold(subscription, viewer, { now, asOf, undo: [] }, 0, 0)
  }

  /** One event was sent: `after` null where the item is gone. */
  changed(subscription: string, viewer: string, key: string, after: SentItem | null, asOf: Instant): void {
    const history = this.#histories.find(subscription, viewer, 0)
    if (history === null) return
    history.undo.push({ key, before: history.now.get(key) ?? null, asOf: history.asOf })
    if (history.undo.length > MAX_EVENTS_SINCE) history.undo.shift()
    if (after === null) history.now.delete(key)
    else history.now.set(key, after)
    history.asOf = asOf
  }

  /** The state as it was `events` before now; null: not kept. */
  stateBefore(subscription: string, viewer: string, events: number): Delivered | null {
    const history = this.#histories.find(subscription, viewer, 0)
    if (history === null || events < 0 || events > history.undo.length) return null
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
    this.#histories.release(subscription)
  }
}
