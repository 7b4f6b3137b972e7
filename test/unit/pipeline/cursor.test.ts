import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { MAX_CURSOR_LENGTH } from '../../../src/model/limits.ts'
import {
  alsoShown,
  type CursorContent,
  type CursorSeal,
  readCursor,
  wasShown,
  writeCursor,
} from '../../../src/pipeline/cursor.ts'

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
    shown: fc.string(),
  }),
  asOf: fc.integer(),
  begun: fc.integer(),
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

  it('shows nothing of what is in it, and is the same for the same', () => {
    fc.assert(
      fc.property(content, fc.integer({ min: 1, max: 1e9 }), (given, later) => {
        const cursor = writeCursor(given, seal)
        expect(writeCursor({ ...given }, { ...seal })).toBe(cursor)
        expect(writeCursor(given, { ...seal, now: seal.now + later })).not.toBe(cursor)
        const bytes = Buffer.from(cursor, 'base64url').toString('latin1')
        const { id, holder } = given.position
        for (const word of [id, holder].filter(text => text.length > 3)) expect(bytes).not.toContain(word)
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
      { position: { order: 1, id: 'a', holder: 'b', rank: 1, depth: 1, round: 0, shown: '' }, asOf: 0, begun: 0 },
      seal,
    )
    expect(codeOf(() => readCursor(cursor, { ...seal, now: 1_000 + DAY_MS - 1 }))).toBe('no error')
    expect(codeOf(() => readCursor(cursor, { ...seal, now: 1_000 + DAY_MS }))).toBe('cursor_expired')
    // Too old and another's: only that it is another's is reported.
    expect(codeOf(() => readCursor(cursor, { ...seal, binding: 'x', now: 1_000 + DAY_MS }))).toBe('cursor_mismatch')
  })

  it('never grows beyond what is read', () => {
    const ids = ['\u0001'.repeat(512), '漢'.repeat(512), '𝕏'.repeat(256)]
    for (const id of ids) {
      const shown = alsoShown(
        '',
        Array.from({ length: 1000 }, (_, at) => ({ id: `e${at}`, holder: 'owner' })),
        'secret',
      )
      const position = { order: Math.PI, id, holder: '漢'.repeat(200), rank: 1e9, depth: 1e9, round: 9, shown }
      expect(writeCursor({ position, asOf: Number.MAX_SAFE_INTEGER, begun: 1e15 }, seal).length).toBeLessThan(
        MAX_CURSOR_LENGTH,
      )
    }
  })
})

describe('what was shown', () => {
  const items = fc.uniqueArray(fc.record({ id: fc.string({ maxLength: 4 }), holder: fc.constantFrom('a', 'b') }), {
    maxLength: 90,
    selector: ({ id, holder }) => `${holder} ${id}`,
  })

  it('is known again, page after page, and nothing else is', () => {
    fc.assert(
      fc.property(items, items, (some, more) => {
        const isShown = wasShown(alsoShown(alsoShown('', some, 'secret'), more, 'secret'), 'secret')
        const all = new Set([...some, ...more].map(({ id, holder }) => `${holder} ${id}`))
        expect([...some, ...more].filter(item => !isShown(item))).toEqual([])
        for (const item of some.map(({ id }) => ({ id: `${id}!`, holder: 'b' }))) {
          expect(isShown(item)).toBe(all.has(`${item.holder} ${item.id}`))
        }
      }),
    )
  })

  it('says nothing to who does not know the secret: an id cannot be chosen to stand for another', () => {
    const one = [{ id: 'a', holder: 'b' }]
    expect(alsoShown('', one, 'secret')).toBe(alsoShown('', one, 'secret'))
    expect(alsoShown('', one, 'secret')).not.toBe(alsoShown('', one, 'other'))
    expect(wasShown(alsoShown('', one, 'other'), 'secret')(one[0] as (typeof one)[number])).toBe(false)
    // Wide enough that none of so many is taken for another by chance.
    expect(Buffer.from(alsoShown('', one, 'secret'), 'base64url')).toHaveLength(6)
  })

  it('is read though it was written shorter, by an older one', () => {
    const isShown = wasShown(Buffer.alloc(4).toString('base64url'), 'secret')
    expect(isShown({ id: 'a', holder: 'b' })).toBe(false)
  })
})
