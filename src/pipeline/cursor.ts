/**
 * Cursors: texts that hold the position where a page of results ended, and that only engines on this store can write and read. A cursor
 * contains nothing that the viewer could not derive from the results shown, so equal answers give equal cursors, whatever is hidden from
 * the viewer.
 */
import { sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { seal, unseal } from '../base/sealed.ts'
import type { Named } from '../model/candidate.ts'
import { QuerentError } from '../model/errors.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import type { Position, Query } from '../model/query.ts'

export interface CursorContent {
  readonly position: Position
  /**
   * Time at which the query is evaluated; later pages are evaluated for the same time, so that scores that fall with time do not change
   * between pages.
   */
  readonly asOf: Instant
  /** Time at which the first page of the answer was requested. */
  readonly begun: Instant
}

export interface CursorSeal {
  readonly secret: string
  /** The query, viewer and lens to which the cursor belongs, as one text. */
  readonly binding: string
  readonly now: Instant
  /** Time for which the cursor is valid, in milliseconds; default one day. */
  readonly lifetimeMs?: number
}

/**
 * Name of the purpose for which cursors are sealed (encrypted and signed). A hash of the query, viewer and lens is inside the sealed text,
 * so that the cursor of another query or viewer can be distinguished from a damaged one.
 */
const PURPOSE = 'querent cursor'
const HASH_LENGTH = 32

/**
 * Makes a sealed cursor, for any lens; `place` holds the values that describe where a page ended. The same values, binding and time give
 * the same bytes.
 */
export function sealCursor(
  place: readonly (string | number | null)[],
  { secret, binding, now, lifetimeMs = CURSOR_LIFETIME_MS }: CursorSeal,
): string {
  return seal(secret, PURPOSE, JSON.stringify([ownerOf(binding), now + lifetimeMs, ...place]))
}

/**
 * Returns the values that were sealed in a cursor. Throws `cursor_invalid` for a text that no engine on this store wrote, `cursor_mismatch`
 * for a cursor of another query, viewer or lens (the message does not say which of these), and `cursor_expired` for one that is too old.
 */
export function openCursor(cursor: string, { secret, binding, now }: CursorSeal): readonly unknown[] {
  const text = unseal(secret, PURPOSE, cursor)
  if (text === null) throw refusal('cursor_invalid', 'it is damaged, or comes from another store')
  // The text was sealed by this program, so it has the expected shape and need not be checked.
  const [owner, expires, ...place] = JSON.parse(text) as [string, Instant, ...unknown[]]
  if (owner !== ownerOf(binding)) {
    throw refusal('cursor_mismatch', 'it does not belong to this request; repeat the one whose page it came with')
  }
  if (now >= expires) throw refusal('cursor_expired', 'it is too old')
  return place
}

/**
 * Key for the place in an answer where a page ended, under which an engine keeps the remaining ranked results in memory. It is not
 * encrypted and leaves out which items were shown; so it costs far less than a cursor, which most requesters never read.
 */
export function placeOf({ binding, asOf, begun }: Pick<Query, 'binding' | 'asOf' | 'begun'>, end: Position): string {
  const { order, tie, id, holder, passage, rank, depth, round } = end
  return JSON.stringify([binding(), asOf, begun, order, id, holder, passage, rank, depth, round, tie])
}

/** The cursor of a page that has a next page. It is sealed only when it is first read, because most cursors never are. */
export class LateCursor {
  /** Key of the place where the page ended, made by `placeOf`; an engine keeps the remaining results in memory under it. */
  readonly place: string
  readonly #seal: () => string
  #text: string | null = null
  #listener: (() => void) | null = null

  /** `seal` makes the cursor's text. It should refer to little data, because it stays in memory as long as the page. */
  constructor(place: string, seal: () => string) {
    this.place = place
    this.#seal = seal
  }

  read(): string {
    if (this.#text === null) {
      this.#text = this.#seal()
      this.#listener?.()
      this.#listener = null
    }
    return this.#text
  }

  /**
   * Calls the listener once: when the cursor's text is first read, or at once if it was read before. A new listener replaces an earlier
   * one.
   */
  whenRead(listener: () => void): void {
    if (this.#text === null) this.#listener = listener
    else listener()
  }
}

export function writeCursor({ position, asOf, begun }: CursorContent, cursorSeal: CursorSeal): string {
  const { order, tie, id, holder, passage, rank, depth, round, shown } = position
  const place: Place = [asOf, begun, order, id, holder, rank, depth, round, shown]
  if (passage !== undefined || tie !== undefined) place.push(passage ?? null)
  if (tie !== undefined) place.push(tie)
  return sealCursor(place as (string | number | null)[], cursorSeal)
}

type Place = [
  ...[asOf: Instant, begun: Instant, order: number, id: string, holder: string],
  ...[rank: number, depth: number, round: number, shown: string, passage?: number | null, tie?: number],
]

/** Reads the position and times from a cursor. Throws `cursor_invalid`, `cursor_mismatch` or `cursor_expired`. */
export function readCursor(cursor: string, cursorSeal: CursorSeal): CursorContent {
  const [asOf, begun, ...place] = openCursor(cursor, cursorSeal) as Place
  const [order, id, holder, rank, depth, round, shown, passage, tie] = place
  return { asOf, begun, position: { order, tie, id, holder, passage: passage ?? undefined, rank, depth, round, shown } }
}

/** Error: the ranked results that a cursor continues are no longer in memory, and have changed since. */
export function orderLost(): QuerentError {
  return refusal('cursor_expired', 'the results that it continues have changed since and are no longer kept here')
}

function ownerOf(binding: string): string {
  return sha256(binding).slice(0, HASH_LENGTH)
}

function refusal(code: 'cursor_invalid' | 'cursor_mismatch' | 'cursor_expired', what: string): QuerentError {
  return new QuerentError(code, `cursor: ${what}`, { field: 'cursor' })
}

// A record, kept in the cursor, of which items the pages so far have shown: where the ranked results are no longer in memory (in another
// process, after a restart), no item is shown twice, wherever it ranks by then.

/**
 * Number of items recorded as shown, the last ones, which limits the length of cursors. Items shown earlier ranked far above the start of
 * the next page.
 */
const MOST = 200
/** Length in bytes of the hash of a shown item: among ten thousand entries, one query in a hundred million confuses two by chance. */
const BYTES = 6

/**
 * Adds items to the record of shown items. Hashes include the store's secret, so that nobody can choose an id whose hash equals that of
 * another item.
 */
export function alsoShown(before: string, items: readonly Named[], secret: string): string {
  const hashes = [Buffer.from(before, 'base64url'), ...items.map(item => hashOf(item, secret))]
  return Buffer.concat(hashes)
    .subarray(-MOST * BYTES)
    .toString('base64url')
}

/** Makes a test of whether an item is among the recorded items, the last ones shown. */
export function wasShown(shown: string, secret: string): (item: Named) => boolean {
  const bytes = Buffer.from(shown, 'base64url')
  const hashes = new Set<number>()
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) hashes.add(bytes.readUIntBE(at, BYTES))
  return item => hashes.has(hashOf(item, secret).readUIntBE(0, BYTES))
}

/** Whether every item shown so far is recorded; then no item whose rank has fallen since is shown twice. */
export function allKnown(after: Position | null): boolean {
  return after === null || forgotten(after) === 0
}

/** Number of items that were shown but are no longer in the record, which holds the last 200. */
export function forgotten({ rank }: Position): number {
  return Math.max(0, rank - MOST)
}

function hashOf({ id, holder, passage }: Named, secret: string): Buffer {
  const name = [id, holder, ...(passage === undefined ? [] : [passage])]
  return Buffer.from(sha256(JSON.stringify([secret, 'shown', ...name])).slice(0, 2 * BYTES), 'hex')
}
