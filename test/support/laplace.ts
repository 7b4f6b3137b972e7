/** The discrete Laplace distribution as it is defined, beside what draws from it. */
import type { Ratio } from '../../src/math/discrete-laplace.ts'

/** P(x) = (1 - e^-ε) / (1 + e^-ε) · e^(-ε |x|). */
export function laplacePmf({ numerator, denominator }: Ratio, at: number): number {
  const epsilon = numerator / denominator
  const fall = Math.exp(-epsilon)
  return ((1 - fall) / (1 + fall)) * Math.exp(-epsilon * Math.abs(at))
}
