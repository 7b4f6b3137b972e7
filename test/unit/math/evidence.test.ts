import { expect, it } from 'vitest'
import { barAt, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../../../src/math/evidence.ts'

const bar = { base: 0.325, slope: 0.1 }
const weights = { wordShare: 0.25, heldShare: 0.1, askedShare: 0.01 }

it('gives the worked query an evidence of 0.9586, above its bar of 0.6561', () => {
  expect(evidence(0.73844, { coverage: 22.111 / 67.122, held: 5, asked: 10 }, weights)).toBeCloseTo(0.9586, 4)
  expect(barAt(2048, bar)).toBeCloseTo(0.6561, 4)
})

it('takes the cosine alone as evidence where there is no term', () => {
  expect(evidence(0.4, { coverage: 0, held: 0, asked: 0 }, weights)).toBe(0.4)
})

it('counts each word of a query up to the sixth, and the words of the nearest passage', () => {
  const of = (held: number, asked: number) => evidence(0.4, { coverage: 0.2, held, asked }, weights)
  expect(of(1, 2)).toBeGreaterThan(of(0, 2))
  expect(of(1, 3)).toBeGreaterThan(of(1, 2))
  expect(of(1, 7)).toBe(of(1, 6))
})

it('leaves out weights that the model does not have', () => {
  expect(evidence(0.4, { coverage: 0.2, held: 3, asked: 5 }, { wordShare: 0.25 })).toBeCloseTo(0.45, 12)
})

it('counts two words in one passage for more than one word of the same coverage', () => {
  expect(evidenceByWords(0.4, 1)).toBeCloseTo(0.4 + 0.5 * Math.log10(2), 12)
  expect(evidenceByWords(0.4, 2)).toBeGreaterThan(evidenceByWords(0.4, 1))
  expect(evidenceByWords(0, 0)).toBe(0)
})

it('lets a bar fall no further below 10 rows, and refuses below the bar of an answer at every number of rows', () => {
  expect(barAt(0, bar)).toBe(barAt(10, bar))
  expect(barAt(11, bar)).toBeGreaterThan(barAt(10, bar))
  for (const rows of [1, 10, 1000, 1_000_000]) {
    expect(barAt(rows, WORD_BARS.refused)).toBeLessThan(barAt(rows, WORD_BARS.answered))
  }
})

it('refuses more where no word of the query occurs, and answers as much', () => {
  const bars = { refused: { base: 0.1, slope: 0.05 }, answered: { base: 0.2, slope: 0.1 } }
  expect(withoutWords(bars)).toEqual({ refused: { base: 0.2, slope: 0.05 }, answered: bars.answered })
})
