/**
 * Cursors: where a page ended, as a text that only this store's engines can write. The signature covers what the cursor
 * is bound to (question, viewer, lens), so one that was forged, cut, or made for another question is simply not ours.
 */
import type { Instant } from '../base/clock.ts'
import { isSigned, sign } from '../base/signature.ts'
import { QuerentError } from '../model/errors.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import type { Position } from '../model/query.ts'

export interface CursorContent {
  readonly position: Position
  /** The next page is asked as of the same moment, so that nothing decays between two pages. */
  readonly asOf: Instant
}

export interface CursorSeal {
  readonly secret: string
  /** Everything the cursor belongs to, as one text. */
  readonly binding: string
  readonly now: Instant
}

export function writeCursor({ position, asOf }: CursorContent, seal: CursorSeal): string {
  const { order, id, holder, rank, depth, round } = position
  const fields = [seal.now + CURSOR_LIFETIME_MS, asOf, order, id, holder, rank, depth, round]
  const payload = Buffer.from(JSON.stringify(fields)).toString('base64url')
  return `${payload}.${sign(seal.secret, signedText(payload, seal.binding))}`
}

/** Throws `cursor_invalid` for anything that is not ours and whole, `cursor_expired` for what is too old. */
export function readCursor(cursor: string, seal: CursorSeal): CursorContent {
  const [payload = '', signature = '', ...rest] = cursor.split('.')
  if (rest.length > 0 || !isSigned(seal.secret, signedText(payload, seal.binding), signature)) {
    throw new QuerentError('cursor_invalid', 'cursor: it is damaged, or belongs to another question or viewer', {
      field: 'cursor',
    })
  }
  // Signed, so the shape is as it was written.
  const fields = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const [expires, asOf, order, id, holder, rank, depth, round] = fields as [
    ...[number, number, number, string, string, number, number, number],
  ]
  if (seal.now >= expires) {
    throw new QuerentError('cursor_expired', 'cursor: it is more than a day old', { field: 'cursor' })
  }
  return { asOf, position: { order, id, holder, rank, depth, round } }
}

function signedText(payload: string, binding: string): string {
  return `cursor\n${payload}\n${binding}`
}
