/** The one order of texts: by Unicode code point, which is the order of their UTF-8 bytes. */

/**
 * Negative, zero or positive, as a comparator returns it. JavaScript's `<` compares UTF-16 units and differs where a
 * character beyond U+FFFF meets one from U+E000 up; databases and other languages compare as this does.
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return byCodePoint(left) - byCodePoint(right)
  }
  return a.length - b.length
}

/** Moves surrogates (the halves of characters beyond U+FFFF) above all other units. */
function byCodePoint(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/**
 * Where a number is among numbers that ascend, or where it belongs: behind all that are less. `count`: of so many from the
 * beginning.
 */
export function placeIn(numbers: Int32Array, number: number, count: number = numbers.length): number {
  if (count === 0 || (numbers[count - 1] as number) < number) return count
  let from = 0
  let to = count
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle] as number) < number) from = middle + 1
    else to = middle
  }
  return from
}

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
