import { expect, it } from 'vitest'
import { evidence, evidenceBar } from '../../../src/math/evidence.ts'

const bar = { base: 0.14, slope: 0.1, minRows: 30 }

it('evidence of the worked question is 0.7886, above its bar of 0.4546', () => {
  expect(evidence(0.70217, 21.897, 63.351, 0.25)).toBeCloseTo(0.7886, 4)
  expect(evidenceBar(1400, bar)).toBeCloseTo(0.4546, 4)
})

it('evidence without any term is the cosine alone', () => {
  expect(evidence(0.4, 0, 0, 0.25)).toBe(0.4)
})

it('the bar stops falling below 30 rows', () => {
  expect(evidenceBar(0, bar)).toBe(evidenceBar(30, bar))
  expect(evidenceBar(31, bar)).toBeGreaterThan(evidenceBar(30, bar))
})
