/**
 * Cursors: where a page ended, as a text that only this store's engines can write and read. In it is nothing that the
 * viewer could not work out from what they were shown, so equal answers give equal cursors, whatever is hidden.
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
  /** The next page is asked as of the same moment, so that nothing decays between two pages. */
  readonly asOf: Instant
  /** When the first page was asked for. */
  readonly begun: Instant
}

export interface CursorSeal {
  readonly secret: string
  /** Everything the cursor belongs to (question, viewer, lens), as one text. */
  readonly binding: string
  readonly now: Instant
  /** A day, unless a lens says otherwise. */
  readonly lifetimeMs?: number
}

/** What every cursor is sealed for; the owner is inside, so that a cursor of another owner differs from a broken one. */
const PURPOSE = 'querent cursor'
const HASH_LENGTH = 32

/** Of any lens: `place` says where a page ended. The same place, owner and moment have the same bytes. */
export function sealCursor(
  place: readonly (string | number | null)[],
  { secret, binding, now, lifetimeMs = CURSOR_LIFETIME_MS }: CursorSeal,
): string {
  return seal(secret, PURPOSE, JSON.stringify([ownerOf(binding), now + lifetimeMs, ...place]))
}

/**
 * The place in a cursor, as it was sealed. Throws `cursor_invalid` for what no engine on this store has written,
 * `cursor_mismatch` for the cursor of another question, viewer or lens (the message does not say which), `cursor_expired` for
 * what is too old.
 */
export function openCursor(cursor: string, { secret, binding, now }: CursorSeal): readonly unknown[] {
  const text = unseal(secret, PURPOSE, cursor)
  if (text === null) throw refusal('cursor_invalid', 'it is damaged, or comes from another store')
  // Sealed, so the shape is as it was written.
  const [owner, expires, ...place] = JSON.parse(text) as [string, Instant, ...unknown[]]
  if (owner !== ownerOf(binding)) {
    throw refusal('cursor_mismatch', 'it does not belong to this request; repeat the one whose page it came with')
  }
  if (now >= expires) throw refusal('cursor_expired', 'it is too old')
  return place
}

/**
 * A place in one answer, unsealed and without what was shown before: what an engine holds the rest of an order under. Costs
 * far less than a cursor, which most requesters never read.
 */
export function placeOf({ binding, asOf, begun }: Pick<Query, 'binding' | 'asOf' | 'begun'>, end: Position): string {
  const { order, tie, id, holder, passage, rank, depth, round } = end
  return JSON.stringify([binding(), asOf, begun, order, id, holder, passage, rank, depth, round, tie])
}

/** Of a page that another follows. Sealed when it is first read: most cursors never are. */
export class LateCursor {
  /** `placeOf` of the end of the page. */
  readonly place: string
  readonly #seal: () => string
  #text: string | null = null
  #listener: (() => void) | null = null

  /** `seal` should keep little: it lives as long as the page. */
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

  /** Calls back once: when it is first read, or at once where it was. Replaces the listener given before. */
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

/** Throws what `openCursor` throws. */
export function readCursor(cursor: string, cursorSeal: CursorSeal): CursorContent {
  const [asOf, begun, ...place] = openCursor(cursor, cursorSeal) as Place
  const [order, id, holder, rank, depth, round, shown, passage, tie] = place
  return { asOf, begun, position: { order, tie, id, holder, passage: passage ?? undefined, rank, depth, round, shown } }
}

/** For an order that is no longer kept, and has changed since. */
export function orderLost(): QuerentError {
  return refusal('cursor_expired', 'the results that it continues have changed since and are no longer kept here')
}

function ownerOf(binding: string): string {
  return sha256(binding).slice(0, HASH_LENGTH)
}

function refusal(code: 'cursor_invalid' | 'cursor_mismatch' | 'cursor_expired', what: string): QuerentError {
  return new QuerentError(code, `cursor: ${what}`, { field: 'cursor' })
}

// What the pages of an answer have shown so far, short enough for a cursor: where the order is not held (in another process,
// after a restart), nothing of it comes again, wherever it would stand by now.

/** The last ones: cursors should not grow for ever. Those before stand far above where the next page begins. */
const MOST = 200
/** Of an entry's hash: among ten thousand entries one in a hundred million questions takes one for another by chance. */
const BYTES = 6

/** With these shown too. Hashed with the store's secret: or who chooses ids could make one that stands for another's. */
export function alsoShown(before: string, items: readonly Named[], secret: string): string {
  const hashes = [Buffer.from(before, 'base64url'), ...items.map(item => hashOf(item, secret))]
  return Buffer.concat(hashes)
    .subarray(-MOST * BYTES)
    .toString('base64url')
}

/** Whether something was among the last that were shown. */
export function wasShown(shown: string, secret: string): (item: Named) => boolean {
  const bytes = Buffer.from(shown, 'base64url')
  const hashes = new Set<number>()
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) hashes.add(bytes.readUIntBE(at, BYTES))
  return item => hashes.has(hashOf(item, secret).readUIntBE(0, BYTES))
}

/** Whether all that the pages so far have shown can be known again: then what has sunk since does not come twice. */
export function allKnown(after: Position | null): boolean {
  return after === null || forgotten(after) === 0
}

/** Of how many that were shown it is not known any more which they are. */
export function forgotten({ rank }: Position): number {
  return Math.max(0, rank - MOST)
}

function hashOf({ id, holder, passage }: Named, secret: string): Buffer {
  const name = [id, holder, ...(passage === undefined ? [] : [passage])]
  return Buffer.from(sha256(JSON.stringify([secret, 'shown', ...name])).slice(0, 2 * BYTES), 'hex')
}
