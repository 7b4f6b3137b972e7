/** Compares names of concepts with queries (CX-017 to CX-019), and URLs of files with paths that people write. */
import { compareText } from '../../base/compare.ts'

/**
 * A text without differences of letter case, over all of Unicode. It is in capitals, since lower case can leave two forms of one letter (σ
 * and ς).
 */
export function foldName(text: string): string {
  return text.normalize('NFC').toUpperCase().normalize('NFC')
}

/**
 * The words of a name, without differences of letter case; split where a lower-case letter is followed by a capital, and at everything that
 * is neither letter nor digit.
 */
export function wordsOf(name: string): readonly string[] {
  return plainWordsOf(name).map(foldName)
}

export function plainWordsOf(name: string): readonly string[] {
  return name
    .normalize('NFC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/**
 * Smallest number of letters of a query word that matches a longer name word which begins with it. `MIN_NAME_PREFIX`: smallest number of
 * letters of a name word that matches a longer query word which begins with it.
 */
const MIN_QUERY_PREFIX = 3
const MIN_NAME_PREFIX = 4

/**
 * Whether a word of the query matches a word of a name: they are equal, or one begins with the other. Both must have folded letter case.
 */
export function covers(queryWord: string, nameWord: string): boolean {
  if (queryWord === nameWord) return true
  if (nameWord.startsWith(queryWord)) return lengthOf(queryWord) >= MIN_QUERY_PREFIX
  return queryWord.startsWith(nameWord) && lengthOf(nameWord) >= MIN_NAME_PREFIX
}

/** Number of Unicode characters of a text, not of UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** For each word, the positions (indexes) in `things` of the items that have this word. */
export function placesByWord<T>(things: readonly T[], wordsOf: (thing: T) => Iterable<string>): Map<string, number[]> {
  const byWord = new Map<string, number[]>()
  for (const [place, thing] of things.entries()) {
    for (const word of wordsOf(thing)) {
      const places = byWord.get(word)
      if (places === undefined) byWord.set(word, [place])
      else places.push(place)
    }
  }
  return byWord
}

/** Path of a file relative to the folder `root`, a URL without a slash at its end; null for a file elsewhere or a malformed URL. */
export function pathBelow(root: string, url: string): string | null {
  return url.startsWith(`${root}/`) ? decoded(url.slice(root.length + 1)) : null
}

/** Path of a file relative to `root`; for a file elsewhere, the last three parts of its path. */
export function pathOrTail(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path ?? decoded(tailOf(url)) ?? tailOf(url)
}

/** Path of a file relative to `root`, in readable form; the URL for a file elsewhere, or whose name has control characters. */
export function shownPath(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path === null || /\p{Cc}/u.test(path) ? url : path
}

/** The last three parts of a path, which say more about a file than the place of its folder. */
export function tailOf(url: string): string {
  return url.split('/').slice(-3).join('/')
}

/** Whether a URL is the folder itself or lies below it. */
export function isBelow(url: string, folder: string): boolean {
  const bare = folder.endsWith('/') ? folder.slice(0, -1) : folder
  return url === bare || url.startsWith(`${bare}/`)
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** How often each name occurs, with the names sorted. */
export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => compareText(a, b)))
}
