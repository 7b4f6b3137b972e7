/** One spelling for every way to write a hashtag. */
import { invalidParameter } from '../errors.ts'
import type { Binding } from '../model.ts'

/** Looks up a hashtag in its normal form. */
export type Resolve = (hashtag: string) => Binding | null

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

/**
 * In the order of their first appearance, each once. `resolve` gets hashtags in their normal form. Of
 * `Python, (C++) and "3.12".`: #python, #c++, #3.12, where those are assigned.
 */
export function tagsInText(text: unknown, resolve: Resolve, parameter = 'content'): string[] {
  if (typeof text !== 'string') throw invalidParameter(parameter, text, 'text')
  const found = new Set<string>()
  for (const [token] of foldHashtag(text).matchAll(/\S+/gu)) {
    const hashtag = tagOfToken(token, resolve)
    if (hashtag !== null) found.add(hashtag)
  }
  return [...found]
}

/** Of a folded token: the first of its readings that is assigned. */
export function tagOfToken(token: string, resolve: Resolve): string | null {
  for (const reading of readings(token)) {
    const body = hashtagBody(reading)
    const binding = body === null ? null : resolve(`#${body}`)
    if (binding !== null) return binding.hashtag
  }
  return null
}

/** As it stands, then without the punctuation in front, sign by sign, then without that behind it as well. */
function* readings(token: string): Iterable<string> {
  const { length } = token
  const start = punctuationBefore(token)
  const end = start < length ? length - punctuationAfter(token) : length
  for (let from = Math.max(0, length - LONGEST); from <= start; from++) yield token.slice(from)
  for (let to = Math.min(length - 1, start + LONGEST); to >= end; to--) yield token.slice(start, to)
  if (start > MOST_SIGNS || length - end > MOST_SIGNS) return
  // Last, what this order passes over: `.net,` with its point kept and its comma gone.
  for (let from = 0; from < start; from++) {
    for (let to = length - 1; to >= end; to--) yield token.slice(from, to)
  }
}

/** Longer readings cannot be hashtags, in UTF-16 units; one more for the `#`, as further ones change nothing. */
const LONGEST = 2 * MAX_HASHTAG_LENGTH + 1
/** At an edge, so that a row of dots does not cost its square. */
const MOST_SIGNS = 8

/** Punctuation, and the ASCII signs that mark words up in prose; `+` and `$` belong to names (`c++`). */
const PUNCTUATION = /^[\p{P}`´<>|=~^]$/u

function punctuationBefore(token: string): number {
  let count = 0
  while (count < token.length && PUNCTUATION.test(token.charAt(count))) count++
  return count
}

function punctuationAfter(token: string): number {
  let count = 0
  while (count < token.length && PUNCTUATION.test(token.charAt(token.length - 1 - count))) count++
  return count
}
