/** How much of a question's words a thing has among its own, a word counting for more the fewer things have it. */
import { idf } from '../../../math/bm25.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { covers, foldName, plainWordsOf } from '../names.ts'

/** One bit each; the count of a thing's own words stands above them. */
const MOST_WORDS = 20
const WORD_BITS = 2 ** MOST_WORDS - 1

/** Things in a list by their words, folded. A thing may stand for several: `countOf` says how many, `total` in all. */
export interface Worded {
  /** Places in the list. */
  readonly byWord: ReadonlyMap<string, readonly number[]>
  readonly length: number
  readonly total: number
  countOf(place: number): number
}

/** What things have of a question's words. */
export interface Covers {
  /** Of the weight of all words of the question: 0 to 1. */
  shareOf(place: number): number
  /** Of the thing's own words, how many the question covers. */
  wordsOf(place: number): number
}

/** The first words of a question, folded, each once; without those that every text has, unless there are no others. */
export function tellingWords(query: string): readonly string[] {
  const words = plainWordsOf(query).map(word => ({ plain: fold(word), folded: foldName(word) }))
  const languages = languagesOfQuestion(words.map(({ plain }) => plain))
  const telling = words.filter(({ plain }) => !languages.some(language => isStopWord(plain, language)))
  const kept = (telling.length > 0 ? telling : words).map(({ folded }) => folded)
  return [...new Set(kept)].slice(0, MOST_WORDS)
}

export function coversOf(questionWords: readonly string[], { byWord, length, total, countOf }: Worded): Covers {
  const found = new Int32Array(length)
  for (const [word, places] of byWord) {
    const bits = bitsOf(questionWords, word)
    if (bits === 0) continue
    for (const place of places) found[place] = ((found[place] as number) | bits) + WORD_BITS + 1
  }
  const counts = new Map<number, number>()
  for (let place = 0; place < length; place++) {
    const bits = (found[place] as number) & WORD_BITS
    if (bits !== 0) counts.set(bits, (counts.get(bits) ?? 0) + countOf(place))
  }
  const shares = sharesBy(counts, questionWords.length, total)
  return {
    shareOf: place => shares.get((found[place] as number) & WORD_BITS) ?? 0,
    wordsOf: place => (found[place] as number) >>> MOST_WORDS,
  }
}

/** Which of the words of a question cover this one. */
function bitsOf(questionWords: readonly string[], word: string): number {
  let bits = 0
  for (let at = 0; at < questionWords.length; at++) if (covers(questionWords[at] as string, word)) bits |= 1 << at
  return bits
}

/** Thousands of things share few sets of words. */
function sharesBy(counts: ReadonlyMap<number, number>, words: number, total: number): ReadonlyMap<number, number> {
  const weights = Array.from({ length: words }, (_, at) => {
    let having = 0
    for (const [bits, count] of counts) if (bits & (1 << at)) having += count
    return idf(total, having)
  })
  const sumOf = (bits: number) => weights.reduce((sum, weight, at) => sum + (bits & (1 << at) ? weight : 0), 0)
  const all = sumOf(WORD_BITS)
  return new Map([...counts.keys()].map(bits => [bits, sumOf(bits) / all]))
}
