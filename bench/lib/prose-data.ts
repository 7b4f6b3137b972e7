/**
 * Texts whose words behave as those of prose do, the same ones in every run. Fitted to the three public collections that
 * stand beside the repository (1.5 million words of abstracts): how words fall off by rank, how many new ones keep coming
 * (29,800 stems in 1.2 million words; the collections have 29,800 in 1.46), and how often a text repeats its own (44.7
 * distinct stems of 60 words, 116 of 200; the collections have 44.7 and 111).
 */
import { must } from '../../src/base/assert.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { drawRank, UNASKED, wordOf } from './made-words.ts'

/** Occurrences of the word of each rank in a thousand; straight lines between them where both scales are logarithmic. */
const SHARES: readonly (readonly [rank: number, share: number])[] = [
  [1, 52],
  [3, 32],
  [10, 9.2],
  [30, 3.05],
  [100, 1.15],
  [300, 0.5],
  [1000, 0.148],
  [3000, 0.027],
  [10_000, 0.0027],
  // Beyond what was seen: as steep as before, which gives the growth of vocabulary that was seen.
  [1_000_000, 0.0027 * 100 ** -1.9],
]
const VOCABULARY = 1_000_000
/** Chance that a word repeats one of its text: at the beginning, more with each word, at most. */
const REPEATED = { first: 0.1, more: 0.0015, most: 0.45 }

export class ProseTexts {
  readonly #uniform: () => number
  /** Ends of the words' shares of all occurrences, by rank from 0. */
  readonly #ends = endsOfShares()

  constructor(seed: number) {
    this.#uniform = seededUniform(seed)
  }

  prose(words: number): string {
    const ranks: number[] = []
    for (let at = 0; at < words; at++) {
      const chance = at === 0 ? 0 : Math.min(REPEATED.most, REPEATED.first + at * REPEATED.more)
      const repeats = this.#uniform() < chance
      ranks.push(repeats ? must(ranks[Math.floor(this.#uniform() * at)], 'a word before') : this.#rank(0))
    }
    return ranks.map(wordOf).join(' ')
  }

  /** Words as people ask: as they occur in texts, but for the commonest; none twice. */
  question(words: number): string {
    const ranks = new Set<number>()
    while (ranks.size < words) ranks.add(this.#rank(UNASKED))
    return [...ranks].map(wordOf).join(' ')
  }

  #rank(from: number): number {
    return drawRank(this.#ends, from, this.#uniform)
  }
}

let made: Float64Array | undefined

function endsOfShares(): Float64Array {
  if (made !== undefined) return made
  made = new Float64Array(VOCABULARY)
  let sum = 0
  let line = 1
  for (let rank = 1; rank <= VOCABULARY; rank++) {
    while (rank > must(SHARES[line], 'a line of shares')[0]) line++
    const [[from, above], [to, below]] = [must(SHARES[line - 1], 'its start'), must(SHARES[line], 'its end')]
    const way = Math.log(rank / from) / Math.log(to / from)
    made[rank - 1] = sum += above * (below / above) ** way
  }
  return made
}
