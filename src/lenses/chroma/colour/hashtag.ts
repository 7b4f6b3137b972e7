/** One spelling for every way to write a hashtag. */
import { invalidParameter } from '../errors.ts'

/** Without the `#`, in Unicode characters. */
export const MAX_HASHTAG_LENGTH = 100

const LEADING_HASHES = /^#+/
/** Neither white space, control characters nor halves of a surrogate pair. */
const BODY = /^[^\s\p{Cc}\p{Cs}]+$/u

const EXPECTED = `hashtags of 1 to ${MAX_HASHTAG_LENGTH} characters without white space and control characters`

/** ` ##Typing ` gives `#typing`. Normalising twice changes nothing. */
export function normaliseHashtag(value: unknown, parameter = 'hashtags'): string {
  if (typeof value !== 'string') throw invalidParameter(parameter, value, EXPECTED)
  const body = hashtagBody(foldHashtag(value.trim()))
  if (body === null) throw invalidParameter(parameter, value, EXPECTED)
  return `#${body}`
}

/** Lower case, composed. */
export function foldHashtag(text: string): string {
  // Composed first, so that a letter and its accent change case as one; and again, as lower case can come apart.
  return text.normalize('NFC').toLowerCase().normalize('NFC')
}

/** What stands behind the `#` of a folded hashtag; null when that cannot be one. */
export function hashtagBody(folded: string): string | null {
  const body = folded.replace(LEADING_HASHES, '')
  return isShort(body) && BODY.test(body) ? body : null
}

/** Counts only where it may be either: a character is one or two UTF-16 units. */
function isShort(body: string): boolean {
  if (body.length <= MAX_HASHTAG_LENGTH) return true
  return body.length <= 2 * MAX_HASHTAG_LENGTH && [...body].length <= MAX_HASHTAG_LENGTH
}
