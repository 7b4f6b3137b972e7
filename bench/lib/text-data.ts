/** Texts that behave like prose for an index: words fall off as Zipf and Mandelbrot say, the same ones in every run. */
import { seededUniform } from '../../test/support/seeded.ts'
import { drawRank, UNASKED, wordOf } from './made-words.ts'

/** Distinct words that can occur, and how steeply they fall: close to English prose of some million words. */
const VOCABULARY = 200_000
const EXPONENT = 1
const OFFSET = 2.7

export class ZipfTexts {
  readonly #uniform: () => number
  /** Ends of the words' shares of all occurrences, by rank. */
  readonly #ends = new Float64Array(VOCABULARY)

  constructor(seed: number) {
    this.#uniform = seededUniform(seed)
    let sum = 0
    for (let rank = 0; rank < VOCABULARY; rank++) this.#ends[rank] = sum += 1 / (rank + OFFSET) ** EXPONENT
  }

  prose(words: number): string {
    return Array.from({ length: words }, () => this.#word(0)).join(' ')
  }

  /** Words as people ask: as they occur in texts, but for the commonest. */
  question(words: number): string {
    return Array.from({ length: words }, () => this.#word(UNASKED)).join(' ')
  }

  #word(from: number): string {
    return wordOf(drawRank(this.#ends, from, this.#uniform))
  }
}
