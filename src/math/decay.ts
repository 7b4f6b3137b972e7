/** Formulas by which a number decreases with age (half-life), and approaches 1 with growing use (saturation). */

/** Exponential decay that halves with every `halfLife`: 1 at age 0, 0.5 at one half-life. An age below 0 counts as 0. */
export function decay(age: number, halfLife: number): number {
  return 2 ** (-Math.max(0, age) / halfLife)
}

/**
 * Saturation amount / (amount + half): 0 at 0, ½ at `half`, approaching 1. With `half` 4, the amount 1 gives 0.2, 4 gives 0.5, and 36 gives
 * 0.9. `amount` must be at least 0.
 */
export function saturate(amount: number, half: number): number {
  return amount / (amount + half)
}
