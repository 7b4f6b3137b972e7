/** The order in which this program sorts all texts: by Unicode code point, which equals the order of their UTF-8 bytes. */

/**
 * Compares two texts by code point; returns a negative number, zero or a positive number, like any comparator. JavaScript's `<` compares
 * UTF-16 units and orders characters beyond U+FFFF before those from U+E000 on; databases and other languages order as this function does.
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

/**
 * Maps a UTF-16 unit to a number for comparison, so that surrogates (halves of characters beyond U+FFFF) come after all other units, as in
 * code point order.
 */
function byCodePoint(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/**
 * Binary search in an ascending array of numbers: the first index whose number is at least the given one, or the length if all are smaller.
 * `count`: search only the first `count` elements.
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

/**
 * Binary search: the first index in 0..size-1 for which `isBelow` is false, or `size`. `isBelow` must be true up to some index and false
 * from there on.
 */
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
