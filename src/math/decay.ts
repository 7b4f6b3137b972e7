/** How time and use wear on a number. */

/** Halves with every `halfLife`: 1 at age 0, 0.5 at one half-life. An age below 0 counts as 0. */
export function decay(age: number, halfLife: number): number {
  return 2 ** (-Math.max(0, age) / halfLife)
}

/** From 0 towards 1, ½ at `half`: 1 of 4 gives 0.2, 4 gives 0.5, 36 gives 0.9. `amount` is 0 or more. */
export function saturate(amount: number, half: number): number {
  return amount / (amount + half)
}
