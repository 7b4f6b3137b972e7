/**
 * Resuming a subscription after a lost connection. A resume token holds what the subscriber has, sealed for the viewer, so it survives a
 * restart of the process. A state too large for a token stays in memory, and the token only names it.
 */
import { canonicalJson } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { seal, unseal } from '../../base/sealed.ts'
import { requesterOf } from '../../identity/rates.ts'
import { QuerentError } from '../../model/errors.ts'
import type { LiveQuery } from '../../model/live.ts'
import { Held } from '../../pipeline/held.ts'
import { asRow, type Delivered, fromRow, type SentItem, type TokenRow } from './difference.ts'

/**
 * A subscriber may resume only within this number of events and milliseconds after its token was issued; after that the subscription starts
 * from the beginning (BQ-165).
 */
export const MAX_EVENTS_SINCE = 1_000
export const TOKEN_LIFE_MS = 10 * 60_000
/**
 * Maximum number of bytes of items in a resume token. The sealed token, about 4,000 characters, must fit into an HTTP header line
 * (Last-Event-ID).
 */
export const MAX_ITEM_BYTES = 2_700
/** Maximum number of subscriptions for which the number of the last event is kept in memory, some hundred bytes each. */
const MAX_SUBSCRIPTIONS = 10_000
/** Maximum number of subscriptions whose states are kept in memory for resuming, each up to some hundred kB. */
const MAX_HISTORIES = 200
const UNBOUNDED = { bytes: Number.POSITIVE_INFINITY, lifetimeMs: Number.POSITIVE_INFINITY }

export interface Resumption extends Pick<Delivered, 'asOf'> {
  readonly subscription: string
  readonly seq: number
  /** Instant at which the resume token was issued. */
  readonly at: Instant
  /** Items that the subscriber had when the token was issued. Null: too many to fit into the token, so their state is kept in memory. */
  readonly items: readonly SentItem[] | null
}

export function writeToken(secret: string, source: LiveQuery, resumption: Resumption): string {
  const { subscription, seq, at, asOf, items } = resumption
  return seal(secret, bindingOf(source), JSON.stringify([subscription, seq, at, asOf, items?.map(asRow) ?? null]))
}

/** Opens a resume token and returns its contents. Throws `resume_invalid` if it is damaged, or belongs to another viewer or query. */
export function readToken(secret: string, source: LiveQuery, token: string): Resumption {
  const text = unseal(secret, bindingOf(source), token)
  if (text === null) {
    const message = 'resume_token: it does not belong to this query'
    throw new QuerentError('resume_invalid', message, { field: 'resume_token' })
  }
  // The cast is safe: the token was sealed by this store, so its contents have the form in which they were written.
  const [subscription, seq, at, asOf, rows] = JSON.parse(text) as [string, number, number, number, TokenRow[] | null]
  return { subscription, seq, at, asOf, items: rows?.map(fromRow) ?? null }
}

/**
 * Text to which a resume token is bound when it is encrypted: the query, the viewer and the version of the token format. The token can be
 * opened only with the same text.
 */
function bindingOf({ viewer, binding }: LiveQuery): string {
  return canonicalJson({ use: 'resume a live query', version: 2, viewer: viewer.id, question: binding })
}

interface History {
  /** Items that the subscriber has after the last event that was sent, by key. */
  readonly now: Map<string, SentItem>
  asOf: Instant
  /**
   * For each event sent, the item that the event replaced (null if there was none), so that earlier states of the subscriber can be
   * restored. Newest last.
   */
  readonly undo: { readonly key: string; readonly before: SentItem | null; readonly asOf: Instant }[]
}

/**
 * States of subscriptions kept in memory for resuming, by subscription and viewer. The limits on their number are applied fairly: a
 * requester with many subscriptions displaces its own states rather than those of others.
 */
export class KeptStates {
  readonly #seqs = new Held<{ seq: number }>({ most: MAX_SUBSCRIPTIONS, ...UNBOUNDED }, requesterOf)
  readonly #histories = new Held<History>({ most: MAX_HISTORIES, ...UNBOUNDED }, requesterOf)

  /** Number of the last event sent in a subscription; null: this process does not know the subscription. */
  seqOf(subscription: string, viewer: string): number | null {
    return this.#seqs.find(subscription, viewer, 0)?.seq ?? null
  }

  reached(subscription: string, viewer: string, seq: number): void {
    const known = this.#seqs.find(subscription, viewer, 0)
    if (known === null) this.#seqs.hold(subscription, viewer, { seq }, 0, 0)
    else known.seq = seq
  }

  /** Begins to keep the items of a subscriber in memory, unless they are already kept. */
  keep(subscription: string, viewer: string, delivered: () => Delivered): void {
    if (this.#histories.find(subscription, viewer, 0) !== null) return
    const { items, asOf } = delivered()
    const now = new Map(items.map(item => [item.key, item]))
    this.#histories.hold(subscription, viewer, { now, asOf, undo: [] }, 0, 0)
  }

  /** Records that one event was sent: `after` is the item after the event, null if the event removed it. */
  changed(subscription: string, viewer: string, key: string, after: SentItem | null, asOf: Instant): void {
    const history = this.#histories.find(subscription, viewer, 0)
    if (history === null) return
    history.undo.push({ key, before: history.now.get(key) ?? null, asOf: history.asOf })
    if (history.undo.length > MAX_EVENTS_SINCE) history.undo.shift()
    if (after === null) history.now.delete(key)
    else history.now.set(key, after)
    history.asOf = asOf
  }

  /** The items that the subscriber had before the last `events` events were sent; null if that state is not kept. */
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
