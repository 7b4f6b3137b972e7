/** Assigned hashtags that a text names. Words are taken as they stand: no stemming, no guessing. */
import { invalidParameter } from '../errors.ts'
import type { Resolve } from './binding-set.ts'
import { foldHashtag, hashtagBody, MAX_HASHTAG_LENGTH } from './hashtag.ts'

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
