/**
 * Cursors: where a page ended, as a text that only this store's engines can write and read. In it is nothing that the
 * viewer could not work out from what they were shown, so equal answers give equal cursors, whatever is hidden.
 */
import { sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { seal, unseal } from '../base/sealed.ts'
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
}

/** What every cursor is sealed for; whose it is stands inside, so that a stranger's can be told from a broken one. */
const PURPOSE = 'querent cursor'
const HASH_LENGTH = 32

type Fields = [
  owner: string,
  expires: Instant,
  asOf: Instant,
  begun: Instant,
  ...place: [
    order: number,
    id: string,
    holder: string,
    rank: number,
    depth: number,
    round: number,
    shown: string,
    passage?: number | null,
    tie?: number,
  ],
]

/**
 * A place in one answer, unsealed and without what was shown before: what an engine holds the rest of an order under. Costs
 * far less than a cursor, which most requesters never read.
 */
export function placeOf({ binding, asOf, begun }: Pick<Query, 'binding' | 'asOf' | 'begun'>, end: Position): string {
  const { order, tie, id, holder, passage, rank, depth, round } = end
  return JSON.stringify([binding, asOf, begun, order, id, holder, passage, rank, depth, round, tie])
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

export function writeCursor({ position, asOf, begun }: CursorContent, { secret, binding, now }: CursorSeal): string {
  const { order, tie, id, holder, passage, rank, depth, round, shown } = position
  const expires = now + CURSOR_LIFETIME_MS
  const fields: Fields = [ownerOf(binding), expires, asOf, begun, order, id, holder, rank, depth, round, shown]
  if (passage !== undefined || tie !== undefined) fields.push(passage ?? null)
  if (tie !== undefined) fields.push(tie)
  return seal(secret, PURPOSE, JSON.stringify(fields))
}

/**
 * Throws `cursor_invalid` for what no engine on this store has written, `cursor_mismatch` for the cursor of another
 * question, viewer or lens (of which is not told), `cursor_expired` for what is too old.
 */
export function readCursor(cursor: string, { secret, binding, now }: CursorSeal): CursorContent {
  const text = unseal(secret, PURPOSE, cursor)
  if (text === null) {
    throw refusal('cursor_invalid', 'it is damaged, or comes from another store')
  }
  // Sealed, so the shape is as it was written.
  const [owner, expires, asOf, begun, ...place] = JSON.parse(text) as Fields
  if (owner !== ownerOf(binding)) {
    throw refusal('cursor_mismatch', 'it does not belong to this request; repeat the one whose page it came with')
  }
  if (now >= expires) throw refusal('cursor_expired', 'it is more than a day old')
  const [order, id, holder, rank, depth, round, shown, passage, tie] = place
  const position = { order, tie, id, holder, passage: passage ?? undefined, rank, depth, round, shown }
  return { asOf, begun, position }
}

/** Of an order that is held nowhere any more, and stands otherwise by now. */
export function orderLost(): QuerentError {
  return refusal('cursor_expired', 'what it goes on in has changed since, and is not held here any more')
}

function ownerOf(binding: string): string {
  return sha256(binding).slice(0, HASH_LENGTH)
}

function refusal(code: 'cursor_invalid' | 'cursor_mismatch' | 'cursor_expired', what: string): QuerentError {
  return new QuerentError(code, `cursor: ${what}`, { field: 'cursor' })
}
