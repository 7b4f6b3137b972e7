/** First of 0..size-1 for which `isBelow` is false, or size; it must be true up to some point, and false from there on. */
export function lowerBound(size: number, isBelow: (at: number) => boolean): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
