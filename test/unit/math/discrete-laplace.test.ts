import { describe, expect, it } from 'vitest'
import { discreteLaplace, discreteLaplaceTail, type Ratio } from '../../../src/math/discrete-laplace.ts'
import { laplacePmf } from '../../support/laplace.ts'
import { seededUniform } from '../../support/seeded.ts'

const ratio = (numerator: number, denominator: number): Ratio => ({ numerator, denominator })

function seededBytes(seed: number) {
  const uniform = seededUniform(seed)
  return (count: number) => Uint8Array.from({ length: count }, () => Math.floor(256 * uniform()))
}

describe('tails of the discrete Laplace distribution', () => {
  it.each([
    [ratio(1, 1), 0, 0.731059], // 1 / (1 + e^-1)
    [ratio(1, 1), 1, 0.268941], // e^-1 / (1 + e^-1)
    [ratio(3, 5), 7, 0.009682], // e^-4.2 / (1 + e^-0.6)
    [ratio(2, 15), -4, 0.726203], // 1 - e^(-5 · 2/15) / (1 + e^(-2/15))
  ])('of %o from %i', (epsilon, at, expected) => {
    expect(discreteLaplaceTail(epsilon, at)).toBeCloseTo(expected, 6)
  })

  it('are the sums of the probabilities', () => {
    for (const epsilon of [ratio(3, 5), ratio(2, 15), ratio(3, 1)]) {
      for (let at = -20; at <= 20; at++) {
        const difference = discreteLaplaceTail(epsilon, at) - discreteLaplaceTail(epsilon, at + 1)
        expect(difference).toBeCloseTo(laplacePmf(epsilon, at), 12)
      }
    }
  })
})

/** Pearson's statistic over the values that are expected five times or oftener, and both tails beyond as one value each. */
function chiSquare(draws: readonly number[], epsilon: Ratio): { readonly statistic: number; readonly freedom: number } {
  let most = 0
  while (draws.length * discreteLaplaceTail(epsilon, most + 2) >= 5) most++
  const expected = (at: number) =>
    draws.length * (Math.abs(at) > most ? discreteLaplaceTail(epsilon, most + 1) : laplacePmf(epsilon, at))
  const seen = new Map<number, number>()
  for (const draw of draws) {
    const bin = Math.max(-most - 1, Math.min(most + 1, draw))
    seen.set(bin, (seen.get(bin) ?? 0) + 1)
  }
  let statistic = 0
  for (let at = -most - 1; at <= most + 1; at++) statistic += ((seen.get(at) ?? 0) - expected(at)) ** 2 / expected(at)
  return { statistic, freedom: 2 * most + 2 }
}

/** The 0.999 quantile of chi-square, by Wilson and Hilferty: within 1 % for ten degrees of freedom and more. */
function quantile(freedom: number): number {
  const normal = 3.0902
  return freedom * (1 - 2 / (9 * freedom) + normal * Math.sqrt(2 / (9 * freedom))) ** 3
}

describe('draws', () => {
  const CASES = [ratio(3, 5), ratio(2, 15), ratio(1, 1), ratio(3, 50), ratio(2, 3), ratio(3, 1)]

  it.each(CASES)('BQ-105: of 100,000 as many of each value as %o has it (chi-square)', epsilon => {
    const random = seededBytes(105)
    const draws = Array.from({ length: 100_000 }, () => discreteLaplace(epsilon, random))
    const { statistic, freedom } = chiSquare(draws, epsilon)
    expect(freedom).toBeGreaterThan(5)
    expect(statistic).toBeLessThan(quantile(freedom))
  })

  it('are found wrong by that measure where the scale is another by a twentieth', () => {
    const random = seededBytes(105)
    const draws = Array.from({ length: 100_000 }, () => discreteLaplace(ratio(63, 100), random))
    const { statistic, freedom } = chiSquare(draws, ratio(3, 5))
    expect(statistic).toBeGreaterThan(quantile(freedom))
  })

  it('are whole, of one zero, and come from the given bytes alone', () => {
    const [some, same] = [seededBytes(7), seededBytes(7)]
    for (let at = 0; at < 1000; at++) {
      const draw = discreteLaplace(ratio(3, 5), some)
      expect(Number.isSafeInteger(draw) && !Object.is(draw, -0)).toBe(true)
      expect(discreteLaplace(ratio(3, 5), same)).toBe(draw)
    }
  })

  it('take bytes that would favour some values for no number', () => {
    // 2^48 is no multiple of 5: the topmost number is passed over.
    const given = [Uint8Array.of(255, 255, 255, 255, 255, 255)]
    const rest = seededBytes(3)
    let asked = 0
    const random = (count: number) => {
      asked++
      return given.pop() ?? rest(count)
    }
    const draw = discreteLaplace(ratio(3, 5), random)
    const askedWith = asked
    asked = 0
    const again = seededBytes(3)
    expect(
      discreteLaplace(ratio(3, 5), count => {
        asked++
        return again(count)
      }),
    ).toBe(draw)
    expect(asked).toBe(askedWith - 1)
  })
})
