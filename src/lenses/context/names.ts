/** Comparing names of concepts with what was asked (CX-017 to CX-019), and URLs of files with the paths that people write for them. */
import { compareText } from '../../base/compare.ts'

/** One form for all cases of a text, over all of Unicode: capitals, which unlike small letters leave no two forms of one. */
export function foldName(text: string): string {
  return text.normalize('NFC').toUpperCase().normalize('NFC')
}

/** Folded words: cut where a small letter meets a capital, and at all that is neither letter nor digit. */
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

/** Letters that a word of the question, or of a name, must have to stand for a longer one. */
const MIN_QUERY_PREFIX = 3
const MIN_NAME_PREFIX = 4

/** Both folded. */
export function covers(queryWord: string, nameWord: string): boolean {
  if (queryWord === nameWord) return true
  if (nameWord.startsWith(queryWord)) return lengthOf(queryWord) >= MIN_QUERY_PREFIX
  return queryWord.startsWith(nameWord) && lengthOf(nameWord) >= MIN_NAME_PREFIX
}

/** Characters, not UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** The places of things in a list by their words. */
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

/** From the folder `root`, whose URL has no slash at its end; null: the file lies elsewhere, or its URL is none. */
export function pathBelow(root: string, url: string): string | null {
  return url.startsWith(`${root}/`) ? decoded(url.slice(root.length + 1)) : null
}

/** The path from `root`; of a file elsewhere its tail. */
export function pathOrTail(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path ?? decoded(tailOf(url)) ?? tailOf(url)
}

/** The path from `root`, as people write it; the URL of what lies elsewhere, or has a name of more than one line. */
export function shownPath(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path === null || /\p{Cc}/u.test(path) ? url : path
}

/** The last three parts: they say more of a file than where its folder lies. */
export function tailOf(url: string): string {
  return url.split('/').slice(-3).join('/')
}

/** Whether it is the folder, or lies below it. */
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

/** How often each name comes, in the order of names. */
export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => compareText(a, b)))
}
