/**
 * Cursors of `beliefs.query` (BQ-143 to BQ-147): where a page ended, unreadable and unforgeable. In them is nothing that the
 * requester could not work out: equal states give equal bytes, whatever is hidden.
 */
import { canonicalJson, type Json, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { QuerentError } from '../../../model/errors.ts'
import { type CursorSeal, openCursor, sealCursor } from '../../../pipeline/cursor.ts'
import { type Fault, faulty } from '../errors.ts'
import type { Boundary } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'

export const CURSOR_LIFETIME_MS: number = 15 * 60_000

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

const HASH_LENGTH = 32

/** Names the query without what may change from page to page: cursor, limit, offset, and how it is told. */
export function questionHash({ semantic, filters, context, weights, options }: CheckedQuery): string {
  const { scope, diversity, temporalIntent, mergeStrategy, minSimilarity } = options
  const { warnings: _, ...asked } = context
  const order = { scope, diversity, temporalIntent, mergeStrategy, minSimilarity }
  const question = { semantic, filters, context: asked, weights, ...order }
  const plain = JSON.stringify(question, (_name, value) => (value instanceof Set ? [...value].sort() : value))
  return sha256(canonicalJson(JSON.parse(plain) as Json)).slice(0, HASH_LENGTH)
}

export function writeCursor(secret: string, owner: CursorOwner, content: CursorContent, now: Instant): string {
  const { asOf, boundary, passed, digest } = content
  const { final, createdAt, id } = boundary
  return sealCursor([asOf, final, createdAt, id, passed, digest], sealOf(secret, owner, now))
}

/** Throws INVALID_QUERY with the reason `cursor_invalid`, `cursor_mismatch` or `cursor_expired`. */
export function readCursor(secret: string, cursor: string, owner: CursorOwner, now: Instant): CursorContent {
  try {
    const place = openCursor(cursor, sealOf(secret, owner, now)) as [number, number, number, string, number, string]
    const [asOf, final, createdAt, id, passed, digest] = place
    return { asOf, boundary: { final, createdAt, id }, passed, digest }
  } catch (error) {
    if (error instanceof QuerentError && isReason(error.code)) throw wrong(error.code)
    throw error
  }
}

function sealOf(secret: string, { question, requester }: CursorOwner, now: Instant): CursorSeal {
  const binding = JSON.stringify(['beliefs.query', question, requester])
  return { secret, binding, now, lifetimeMs: CURSOR_LIFETIME_MS }
}

const CONSTRAINTS = {
  cursor_invalid: 'a cursor that came with an answer, unchanged',
  cursor_mismatch: 'the cursor of an earlier answer to this query',
  cursor_expired: 'a cursor whose order is still known; ask without one again',
}

type Reason = keyof typeof CONSTRAINTS

function isReason(code: string): code is Reason {
  return Object.hasOwn(CONSTRAINTS, code)
}

/** It is too old, or its order is not known any more. */
export function cursorExpired(): Error {
  return wrong('cursor_expired')
}

function wrong(reason: Reason): Error {
  const fault: Fault = {
    code: 'INVALID_QUERY',
    path: 'options.cursor',
    constraint: CONSTRAINTS[reason],
    reason,
    value: null,
  }
  return faulty([fault])
}
