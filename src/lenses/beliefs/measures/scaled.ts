/** Weights that come to 1 together. */

/** Each divided by their sum; null when the sum is 0. Weights are finite and 0 or more. Order of keys kept. */
export function scaled<K extends string>(weights: Readonly<Record<K, number>>): Readonly<Record<K, number>> | null {
  const names = Object.keys(weights) as K[]
  const largest = Math.max(...names.map(name => weights[name]))
  if (largest === 0) return null
  // Very large and very small ones would leave the range of numbers when they are added or divided.
  const unit = largest > 1e100 || largest < 1e-100 ? largest : 1
  const sum = names.reduce((total, name) => total + weights[name] / unit, 0)
  // The cast: every key of the record is there, and no other.
  return Object.fromEntries(names.map(name => [name, weights[name] / unit / sum])) as Record<K, number>
}
