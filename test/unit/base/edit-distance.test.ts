import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance } from '../../../src/base/near-names.ts'

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['email', 'email', 0],
    ['emial', 'email', 1],
    ['sennd', 'send', 1],
    ['vaccuum', 'vacuum', 1],
    ['tabel', 'table', 1],
    ['authentification', 'authentication', 2],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
    ['abc', 'ca', 3],
  ])('of %j and %j is %d', (a, b, edits) => {
    expect(editDistance(a, b, 5)).toBe(edits)
  })

  it('is the same both ways, and one more than the bound where it is above it', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })
    fc.assert(
      fc.property(word, word, fc.nat({ max: 4 }), (a, b, most) => {
        const whole = editDistance(a, b, 20)
        expect(editDistance(b, a, 20)).toBe(whole)
        expect(editDistance(a, b, most)).toBe(Math.min(whole, most + 1))
      }),
      { numRuns: 2000 },
    )
  })
})
