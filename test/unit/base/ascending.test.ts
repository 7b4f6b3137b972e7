import fc from 'fast-check'
import { expect, it } from 'vitest'
import { placeIn } from '../../../src/base/compare.ts'

it('finds a number, or where it belongs, among those that ascend', () => {
  const numbers = Int32Array.of(2, 4, 4, 7)
  expect([1, 2, 3, 4, 5, 7, 8].map(number => placeIn(numbers, number))).toEqual([0, 0, 1, 1, 3, 3, 4])
  expect([1, 4, 9].map(number => placeIn(numbers, number, 2))).toEqual([0, 1, 2])
  expect(placeIn(new Int32Array(0), 5)).toBe(0)
  expect(placeIn(numbers, Number.POSITIVE_INFINITY)).toBe(4)
})

it('is behind all that are less, and no others', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 })), fc.integer({ min: -9, max: 9 }), (some, number) => {
      const numbers = Int32Array.from(some).sort()
      expect(placeIn(numbers, number)).toBe(some.filter(one => one < number).length)
    }),
  )
})
