/**
 * Integer noise, symmetric around zero, P(x) ∝ exp(-ε |x|), for a rational ε: the discrete Laplace, or two-sided geometric, distribution.
 * Drawn with integers alone (Canonne, Kamath and Steinke 2020, algorithms 1 and 2), so that the probabilities are exact: Laplace noise from
 * floating-point logarithms reveals information about the value that it hides.
 */

/** A positive fraction: `numerator` and `denominator` are integers of at least 1, whose product is at most 2^32. */
export interface Ratio {
  readonly numerator: number
  readonly denominator: number
}

/** Source of uniformly random bytes, new ones at each call. */
export type RandomBytes = (count: number) => Uint8Array

/**
 * Draws one integer from the discrete Laplace distribution with ε as given. For ε from 0.01 to 10, a draw uses about ten uniform numbers on
 * average; it may take longer, but ends with probability 1.
 */
export function discreteLaplace({ numerator, denominator }: Ratio, random: RandomBytes): number {
  for (;;) {
    const start = uniformBelow(denominator, random)
    if (!isOfExp(start, denominator, random)) continue
    let whole = 0
    while (isOfExp(1, 1, random)) whole++
    const size = Math.floor((start + denominator * whole) / numerator)
    const isNegative = uniformBelow(2, random) === 1
    // A result of 0 with a negative sign is drawn again, because zero would otherwise be twice as likely as it should be.
    if (!isNegative) return size
    if (size > 0) return -size
  }
}

/** Probability that a drawn integer is at least `at`, for an integer `at`. */
export function discreteLaplaceTail({ numerator, denominator }: Ratio, at: number): number {
  const epsilon = numerator / denominator
  return at > 0
    ? Math.exp(-epsilon * at) / (1 + Math.exp(-epsilon))
    : 1 - Math.exp(-epsilon * (1 - at)) / (1 + Math.exp(-epsilon))
}

/** Draws true with probability exp(−over / under), for 0 ≤ over ≤ under. */
function isOfExp(over: number, under: number, random: RandomBytes): boolean {
  let trials = 1
  // The loop continues with probability over / (under · trials); the probabilities of ending it at an odd number of trials add up to
  // exp(−over / under).
  while (uniformBelow(under * trials, random) < over) trials++
  return trials % 2 === 1
}

const BYTES = 6
const SPAN = 2 ** (8 * BYTES)

/** Draws a uniform integer from 0 to below `bound` (at most 2^48); a draw that would make some values more likely is repeated. */
function uniformBelow(bound: number, random: RandomBytes): number {
  if (bound === 1) return 0
  const fair = SPAN - (SPAN % bound)
  for (;;) {
    const drawn = random(BYTES).reduce((number, byte) => number * 256 + byte, 0)
    if (drawn < fair) return drawn % bound
  }
}
