/**
 * Classes of characters for splitting text into words, one bit each. The classes follow Unicode's properties; a table caches the class of
 * each character.
 */

export const SEPARATOR = 1
/** Bit for lower-case letters; letters of scripts without case count as lower-case. */
export const LOWER = 2
export const UPPER = 4
export const DIGIT = 8
export const UNDERSCORE = 16
/** Bit for combining marks, which modify the letter before them. */
export const MARK = 32
/** Bit for invisible characters such as soft hyphens and joiners. */
export const IGNORED = 64
/** Bit for letters of a script that writes no spaces between words. */
export const UNSPACED = 128

const UNSPACED_LETTER =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]/u

const known = new Uint8Array(0x10000)

/** The class of the character at offset `at`, which must be within the text. */
export function classOf(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  const before = known[unit] as number
  if (before !== 0) return before
  const point = text.codePointAt(at) as number
  const kind = classify(point)
  // Only characters of one UTF-16 unit are cached, by that unit; a surrogate alone does not determine a character.
  if (unit < 0xd800 || unit > 0xdfff) known[unit] = kind
  return kind
}

function classify(point: number): number {
  if (point === 0x5f) return UNDERSCORE
  const character = String.fromCodePoint(point)
  if (/\p{M}/u.test(character)) return MARK
  if (/\p{N}/u.test(character)) return DIGIT
  if (/\p{L}/u.test(character)) {
    if (UNSPACED_LETTER.test(character)) return UNSPACED
    return /[\p{Lu}\p{Lt}]/u.test(character) ? UPPER : LOWER
  }
  return /[\u00ad\u200b-\u200d\u2060\ufeff]/.test(character) ? IGNORED : SEPARATOR
}

/** Number of UTF-16 units (1 or 2) of the character at offset `at`. */
export function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1
}
