/** How much of a question's words a thing has among its own, a word counting for more the fewer things have it. */
import { idf } from '../../../math/bm25.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { fold } from '../../../text/normalise.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { covers, foldName, plainWordsOf } from '../names.ts'

/** One bit each. */
const MOST_WORDS = 32

export interface Cover {
  /** Of the weight of all words of the question: above 0, at most 1. */
  readonly share: number
  /** Of the thing's own words, how many the question covers. */
  readonly words: number
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

/** Things with at least one of the words. */
export function coversOf<T>(questionWords: readonly string[], { byWord, total, countOf }: Worded<T>): Map<T, Cover> {
  const found = new Map<T, { bits: number; words: number }>()
  for (const [word, things] of byWord) {
    const bits = bitsOf(questionWords, word)
    if (bits === 0) continue
    for (const thing of things) {
      const known = found.get(thing)
      if (known === undefined) {
        found.set(thing, { bits, words: 1 })
      } else {
        known.bits |= bits
        known.words++
      }
    }
  }
  const counts = questionWords.map(() => 0)
  for (const [thing, { bits }] of found) {
    const count = countOf(thing)
    for (let at = 0; at < counts.length; at++) if (bits & (1 << at)) counts[at] = (counts[at] as number) + count
  }
  const shareOf = sharesBy(counts.map(count => idf(total, count)))
  return new Map([...found].map(([thing, { bits, words }]) => [thing, { share: shareOf(bits), words }]))
}

/** Which of the words of a question cover this one. */
function bitsOf(questionWords: readonly string[], word: string): number {
  let bits = 0
  for (let at = 0; at < questionWords.length; at++) if (covers(questionWords[at] as string, word)) bits |= 1 << at
  return bits
}

/** Thousands of things share few sets of words. */
function sharesBy(weights: readonly number[]): (bits: number) => number {
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const known = new Map<number, number>()
  return bits => {
    const share = known.get(bits)
    if (share !== undefined) return share
    const made = weights.reduce((sum, weight, at) => sum + (bits & (1 << at) ? weight : 0), 0) / all
    known.set(bits, made)
    return made
  }
}
