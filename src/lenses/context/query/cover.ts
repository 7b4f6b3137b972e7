/** How much of a question's words a thing has among its own, a word counting for more the fewer things have it. */
import { idf } from '../../../math/bm25.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { covers, foldName, plainWordsOf } from '../names.ts'

/** One bit each; with the counts above them they still fit a small integer, which maps hold without a box. */
const MOST_WORDS = 20
const WORD_BITS = 2 ** MOST_WORDS - 1

/** What things have of a question's words. */
export interface Covers<T> {
  /** Of the weight of all words of the question: 0 to 1. */
  shareOf(thing: T): number
  /** Of the thing's own words, how many the question covers. */
  wordsOf(thing: T): number
}

/** Things by their words, folded. A thing may stand for several: `countOf` says how many, which are `total` in all. */
export interface Worded<T> {
  readonly byWord: ReadonlyMap<string, readonly T[]>
  readonly total: number
  countOf(thing: T): number
}

/** The first words of a question, folded, each once; without those that every text has, unless there are no others. */
export function tellingWords(query: string): readonly string[] {
  const words = plainWordsOf(query).map(word => ({ plain: fold(word), folded: foldName(word) }))
  const languages = languagesOfQuestion(words.map(({ plain }) => plain))
  const telling = words.filter(({ plain }) => !languages.some(language => isStopWord(plain, language)))
  const kept = (telling.length > 0 ? telling : words).map(({ folded }) => folded)
  return [...new Set(kept)].slice(0, MOST_WORDS)
}

export function coversOf<T>(questionWords: readonly string[], { byWord, total, countOf }: Worded<T>): Covers<T> {
  const found = new Map<T, number>()
  for (const [word, things] of byWord) {
    const bits = bitsOf(questionWords, word)
    if (bits === 0) continue
    for (const thing of things) found.set(thing, ((found.get(thing) ?? 0) | bits) + WORD_BITS + 1)
  }
  const counts = new Map<number, number>()
  for (const [thing, packed] of found) {
    const bits = packed & WORD_BITS
    counts.set(bits, (counts.get(bits) ?? 0) + countOf(thing))
  }
  const shares = sharesBy(counts, questionWords.length, total)
  return {
    shareOf: thing => shares.get((found.get(thing) ?? 0) & WORD_BITS) ?? 0,
    wordsOf: thing => (found.get(thing) ?? 0) >>> MOST_WORDS,
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
