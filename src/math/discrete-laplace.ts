/**
 * Whole noise from both sides of zero, P(x) ∝ exp(-ε |x|), for a rational ε: the discrete Laplace, or two-sided geometric,
 * distribution. Drawn by whole numbers alone (Canonne, Kamath and Steinke 2020, algorithms 1 and 2), so that its
 * probabilities are exactly these: what floating-point logarithms make of Laplace noise gives away what it is laid over.
 */

/** `numerator / denominator`, both whole and at least 1; their product at most 2^32. */
export interface Ratio {
  readonly numerator: number
  readonly denominator: number
}

/** Uniform bytes, each time new ones. */
export type RandomBytes = (count: number) => Uint8Array

/** One draw. Ends with probability 1; for ε from 0.01 to 10 it takes some ten uniform numbers on average. */
export function discreteLaplace({ numerator, denominator }: Ratio, random: RandomBytes): number {
  for (;;) {
    const start = uniformBelow(denominator, random)
    if (!isOfExp(start, denominator, random)) continue
    let whole = 0
    while (isOfExp(1, 1, random)) whole++
    const size = Math.floor((start + denominator * whole) / numerator)
    const isNegative = uniformBelow(2, random) === 1
    // Zero has one sign.
    if (!isNegative) return size
    if (size > 0) return -size
  }
}

/** P(noise ≥ at), for a whole `at`. */
export function discreteLaplaceTail({ numerator, denominator }: Ratio, at: number): number {
  const epsilon = numerator / denominator
  return at > 0
    ? Math.exp(-epsilon * at) / (1 + Math.exp(-epsilon))
    : 1 - Math.exp(-epsilon * (1 - at)) / (1 + Math.exp(-epsilon))
}

/** True with probability exp(-over / under), for 0 ≤ over ≤ under. */
function isOfExp(over: number, under: number, random: RandomBytes): boolean {
  let trials = 1
  // Goes on with probability over / (under · trials); those that end at an odd number add up to the exponential.
  while (uniformBelow(under * trials, random) < over) trials++
  return trials % 2 === 1
}

const BYTES = 6
const SPAN = 2 ** (8 * BYTES)

/** Each of 0 to below `bound` (at most 2^48) as likely as the others: what would favour some is drawn again. */
function uniformBelow(bound: number, random: RandomBytes): number {
  if (bound === 1) return 0
  const fair = SPAN - (SPAN % bound)
  for (;;) {
    const drawn = random(BYTES).reduce((number, byte) => number * 256 + byte, 0)
    if (drawn < fair) return drawn % bound
  }
}
