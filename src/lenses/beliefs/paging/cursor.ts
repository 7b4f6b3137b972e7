/**
 * Cursors of `beliefs.query` (BQ-143 to BQ-147): where a page ended, unreadable and unforgeable. In them is nothing that the
 * requester could not work out: equal states give equal bytes, whatever is hidden.
 */
import { canonicalJson, type Json, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { seal, unseal } from '../../../base/sealed.ts'
import { type Fault, faulty } from '../errors.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'

export const CURSOR_LIFETIME_MS: number = 15 * 60_000

/** The last result of a page, by its place in the total order. */
export type Boundary = Pick<ScoredBelief, 'final' | 'createdAt' | 'id'>

export interface CursorContent {
  readonly asOf: Instant
  readonly boundary: Boundary
  /** Results up to the boundary, those that an offset skipped among them. */
  readonly passed: number
  /** Of all that the order rests on: see `digestOf`. */
  readonly digest: string
}

/** Whose cursor it is: the requester's, for this question. */
export interface CursorOwner {
  readonly question: string
  readonly requester: string
}

const PURPOSE = 'querent cursor beliefs.query'
const VERSION = 1
const HASH_LENGTH = 32

/** Names the query without what may change from page to page: cursor, limit, offset, and how it is told. */
export function questionHash({ semantic, filters, context, weights, options }: CheckedQuery): string {
  const { scope, diversity, temporalIntent, mergeStrategy } = options
  const { warnings: _, ...asked } = context
  const question = { semantic, filters, context: asked, weights, scope, diversity, temporalIntent, mergeStrategy }
  const plain = JSON.stringify(question, (_name, value) => (value instanceof Set ? [...value].sort() : value))
  return sha256(canonicalJson(JSON.parse(plain) as Json)).slice(0, HASH_LENGTH)
}

export function writeCursor(secret: string, owner: CursorOwner, content: CursorContent, now: Instant): string {
  const { asOf, boundary, passed, digest } = content
  const { final, createdAt, id } = boundary
  const expires = now + CURSOR_LIFETIME_MS
  const fields = [VERSION, owner.question, owner.requester, asOf, final, createdAt, id, passed, digest, expires]
  return seal(secret, PURPOSE, JSON.stringify(fields))
}

/** Throws INVALID_QUERY with the reason `cursor_invalid`, `cursor_mismatch` or `cursor_expired`. */
export function readCursor(secret: string, cursor: string, owner: CursorOwner, now: Instant): CursorContent {
  const text = unseal(secret, PURPOSE, cursor)
  if (text === null) throw wrong('cursor_invalid', 'a cursor that came with an answer, unchanged')
  // Sealed, so the shape is as it was written.
  const fields = JSON.parse(text) as [
    number,
    string,
    string,
    ...[number, number, number, string, number, string, number],
  ]
  const [version, question, requester, asOf, final, createdAt, id, passed, digest, expires] = fields
  if (version !== VERSION) throw wrong('cursor_invalid', 'a cursor that came with an answer, unchanged')
  if (question !== owner.question || requester !== owner.requester) {
    throw wrong('cursor_mismatch', 'the cursor of an earlier answer to this query')
  }
  if (now >= expires) throw cursorExpired()
  return { asOf, boundary: { final, createdAt, id }, passed, digest }
}

/** It is too old, or its order is not known any more. */
export function cursorExpired(): Error {
  return wrong('cursor_expired', 'a cursor whose order is still known; ask without one again')
}

function wrong(reason: string, constraint: string): Error {
  const fault: Fault = { code: 'INVALID_QUERY', path: 'options.cursor', constraint, reason, value: null }
  return faulty([fault])
}
