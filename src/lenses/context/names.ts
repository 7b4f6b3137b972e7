/** Comparing names of concepts with what was asked (CX-017 to CX-019). */

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
const LEAST_QUERY_PREFIX = 3
const LEAST_NAME_PREFIX = 4

/** Both folded. */
export function covers(queryWord: string, nameWord: string): boolean {
  if (queryWord === nameWord) return true
  if (nameWord.startsWith(queryWord)) return lengthOf(queryWord) >= LEAST_QUERY_PREFIX
  return queryWord.startsWith(nameWord) && lengthOf(nameWord) >= LEAST_NAME_PREFIX
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
