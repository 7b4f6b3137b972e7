import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { type CursorContent, type CursorSeal, readCursor, writeCursor } from '../../../src/pipeline/cursor.ts'

const seal: CursorSeal = { secret: 's', binding: 'question, viewer, lens', now: 1_000 }
const DAY_MS = 86_400_000

const content: fc.Arbitrary<CursorContent> = fc.record({
  position: fc.record({
    order: fc.double({ noNaN: true, noDefaultInfinity: true }).filter(order => !Object.is(order, -0)),
    id: fc.string({ unit: 'binary' }),
    holder: fc.string(),
    rank: fc.nat(),
    depth: fc.nat(),
    round: fc.nat(),
  }),
  asOf: fc.integer(),
})

function codeOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof QuerentError) return error.code
    throw error
  }
  return 'no error'
}

describe('a cursor', () => {
  it('reads as it was written', () => {
    fc.assert(
      fc.property(content, given => {
        expect(readCursor(writeCursor(given, seal), seal)).toEqual(given)
      }),
    )
  })

  it('is short enough for a query string, and safe in one', () => {
    const given = {
      position: { order: 0.1234567890123456, id: 'note-17', holder: 'owner', rank: 10, depth: 100, round: 2 },
      asOf: 1,
    }
    expect(writeCursor(given, seal)).toMatch(/^[\w.-]{1,200}$/)
  })

  it('of another question, viewer, lens or store is not ours', () => {
    fc.assert(
      fc.property(content, given => {
        const cursor = writeCursor(given, seal)
        expect(codeOf(() => readCursor(cursor, { ...seal, binding: 'another' }))).toBe('cursor_invalid')
        expect(codeOf(() => readCursor(cursor, { ...seal, secret: 'another' }))).toBe('cursor_invalid')
      }),
    )
  })

  it('that was cut, lengthened or changed anywhere is not ours', () => {
    fc.assert(
      fc.property(content, fc.nat(), fc.constantFrom('A', 'b', '.', '', 'é', '=', '\u0000'), (given, place, other) => {
        const cursor = writeCursor(given, seal)
        const at = place % cursor.length
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1)
        fc.pre(changed !== cursor)
        for (const forged of [changed, cursor.slice(0, at), `${cursor}A`, ` ${cursor}`, `${cursor}.`]) {
          expect(codeOf(() => readCursor(forged, seal))).toBe('cursor_invalid')
        }
      }),
    )
  })

  it('of any other text is not ours', () => {
    for (const text of ['', '.', 'AAAA.BBBB', 'null', '{"order":1}', '𝕏'.repeat(300)]) {
      expect(codeOf(() => readCursor(text, seal))).toBe('cursor_invalid')
    }
  })

  it('lives for a day', () => {
    const cursor = writeCursor(
      { position: { order: 1, id: 'a', holder: 'b', rank: 1, depth: 1, round: 0 }, asOf: 0 },
      seal,
    )
    expect(codeOf(() => readCursor(cursor, { ...seal, now: 1_000 + DAY_MS - 1 }))).toBe('no error')
    expect(codeOf(() => readCursor(cursor, { ...seal, now: 1_000 + DAY_MS }))).toBe('cursor_expired')
    // Too old and not ours: only that it is not ours is told.
    expect(codeOf(() => readCursor(cursor, { ...seal, binding: 'x', now: 1_000 + DAY_MS }))).toBe('cursor_invalid')
  })
})
