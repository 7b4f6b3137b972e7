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
