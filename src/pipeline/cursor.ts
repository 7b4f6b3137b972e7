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
import type { Position } from '../model/query.ts'

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

/** What every cursor is sealed for; whose it is stands inside, so that one of another owner differs from a broken one. */
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

export function writeCursor({ position, asOf, begun }: CursorContent, cursorSeal: CursorSeal): string {
  const { order, tie, id, holder, passage, rank, depth, shown } = position
  const place: Place = [asOf, begun, order, id, holder, rank, depth, shown]
  if (passage !== undefined || tie !== undefined) place.push(passage ?? null)
  if (tie !== undefined) place.push(tie)
  return sealCursor(place as (string | number | null)[], cursorSeal)
}

type Place = [
  ...[asOf: Instant, begun: Instant, order: number, id: string, holder: string],
  ...[rank: number, depth: number, shown: string, passage?: number | null, tie?: number],
]

/** Throws what `openCursor` throws. */
export function readCursor(cursor: string, cursorSeal: CursorSeal): CursorContent {
  const [asOf, begun, ...place] = openCursor(cursor, cursorSeal) as Place
  const [order, id, holder, rank, depth, shown, passage, tie] = place
  return { asOf, begun, position: { order, tie, id, holder, passage: passage ?? undefined, rank, depth, shown } }
}

function ownerOf(binding: string): string {
  return sha256(binding).slice(0, HASH_LENGTH)
}

function refusal(code: 'cursor_invalid' | 'cursor_mismatch' | 'cursor_expired', what: string): QuerentError {
  return new QuerentError(code, `cursor: ${what}`, { field: 'cursor' })
}

// What the pages of an answer have shown so far, short enough for a cursor: nothing of it comes again, wherever it would stand by now.

/** The last ones, so that cursors do not grow for ever: eight characters each. */
const MOST = 1_000
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

/** Of how many that were shown it is not known any more which they are. */
export function forgotten({ rank }: Position): number {
  return Math.max(0, rank - MOST)
}

function hashOf({ id, holder, passage }: Named, secret: string): Buffer {
  const name = [id, holder, ...(passage === undefined ? [] : [passage])]
  return Buffer.from(sha256(JSON.stringify([secret, 'shown', ...name])).slice(0, 2 * BYTES), 'hex')
}
