/** What is compared with bounds and shown, so that float noise decides nothing. */
export function twelveDecimals(value: number): number {
  return Math.round(value * 1e12) / 1e12
}
