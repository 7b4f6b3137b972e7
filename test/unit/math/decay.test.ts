import { expect, it } from 'vitest'
import { decay, saturate } from '../../../src/math/decay.ts'

it('decay halves with every half-life and begins at 1', () => {
  expect([-5, 0, 30, 60, 90].map(age => decay(age, 30))).toEqual([1, 1, 0.5, 0.25, 0.125])
})

it('saturation goes from 0 by a half towards 1', () => {
  expect([0, 1, 4, 36].map(amount => saturate(amount, 4))).toEqual([0, 0.2, 0.5, 0.9])
})
