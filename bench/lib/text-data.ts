/** Texts that behave like prose for an index: words fall off as Zipf and Mandelbrot say, the same ones in every run. */
import { seededUniform } from '../../src/testing/seeded.ts'

/** Distinct words that can occur, and how steeply they fall: close to English prose of some million words. */
const VOCABULARY = 200_000
const EXPONENT = 1
const OFFSET = 2.7
/** Nobody asks for the hundred commonest words: they are "the" and "of". */
const UNASKED = 100

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
    return Array.from({ length: words }, () => wordOf(this.#rank(0))).join(' ')
  }

  /** Words as people ask: as they occur in texts, but for the commonest. */
  question(words: number): string {
    return Array.from({ length: words }, () => wordOf(this.#rank(UNASKED))).join(' ')
  }

  /** A rank of at least `from`, drawn by share. */
  #rank(from: number): number {
    const before = from === 0 ? 0 : (this.#ends[from - 1] as number)
    const aim = before + this.#uniform() * ((this.#ends[VOCABULARY - 1] as number) - before)
    let [low, high] = [from, VOCABULARY - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ends[middle] as number) <= aim) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Pronounceable, and its own stem: consonants and vowels by the digits of the rank. */
function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + 7; rest > 0; rest = Math.floor(rest / 75)) {
    word += 'bcdfgklmnprtvxz'.charAt(rest % 15) + 'aeiou'.charAt(Math.floor(rest / 15) % 5)
  }
  return `${word}k`
}
