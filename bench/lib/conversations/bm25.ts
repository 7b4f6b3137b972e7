/** BM25 over the texts of one conversation, plain: words are stemmed, function words left out. */
import { fold } from '../../../src/text/normalise.ts'
import { stem } from '../../../src/text/stem.ts'
import { isStopWord } from '../../../src/text/stopwords.ts'
import type { SetLanguage } from './question-set.ts'

export interface Bm25Parameters {
  readonly k1: number
  readonly b: number
}

const WORD = /[\p{L}\p{N}]+/gu
const ENGLISH_ENDING = /['’](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}])/giu

export class Bm25 {
  readonly #language: SetLanguage
  readonly #size: number
  /** By stem: its weight in each text that contains it. */
  readonly #weights = new Map<string, readonly (readonly [text: number, weight: number])[]>()

  constructor(texts: readonly string[], { k1, b }: Bm25Parameters, language: SetLanguage) {
    this.#language = language
    this.#size = texts.length
    const counted = texts.map(text => countsOf(stemsOf(text, language)))
    const lengths = counted.map(counts => [...counts.values()].reduce((sum, count) => sum + count, 0))
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
    const places = new Map<string, (readonly [number, number])[]>()
    for (const [text, counts] of counted.entries()) {
      for (const [term, count] of counts) {
        const length = (lengths[text] as number) / mean
        const weight = (count * (k1 + 1)) / (count + k1 * (1 - b + b * length))
        const list = places.get(term) ?? []
        list.push([text, weight])
        places.set(term, list)
      }
    }
    for (const [term, list] of places) {
      const idf = Math.log(1 + (texts.length - list.length + 0.5) / (list.length + 0.5))
      this.#weights.set(
        term,
        list.map(([text, weight]) => [text, idf * weight]),
      )
    }
  }

  /** One a text, in order. */
  scores(question: string): Float64Array {
    const scores = new Float64Array(this.#size)
    for (const term of new Set(stemsOf(question, this.#language))) {
      for (const [text, weight] of this.#weights.get(term) ?? []) scores[text] = (scores[text] as number) + weight
    }
    return scores
  }
}

export function stemsOf(text: string, language: SetLanguage): readonly string[] {
  const plain = language === 'en' ? text.replace(ENGLISH_ENDING, '') : text
  return [...plain.normalize('NFC').matchAll(WORD)]
    .map(([word]) => fold(word))
    .filter(word => word !== '' && !isStopWord(word, language))
    .map(word => stem(word, language))
}

function countsOf(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
