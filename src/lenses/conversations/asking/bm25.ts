/** BM25 of short texts for the words of a question. All statistics are taken over the texts that are asked, and no others. */
import { idf } from '../../../math/bm25.ts'
import { countOf, textOf, type WordCounts, type WordKeys } from './word-counts.ts'

export interface Bm25Parameters {
  readonly k1: number
  readonly b: number
}

/** Of messages of people and blocks of them, where length says little. */
export const OF_MESSAGES: Bm25Parameters = { k1: 0.9, b: 0.4 }
/** Of pieces of 120 words. */
export const OF_PIECES: Bm25Parameters = { k1: 1.2, b: 0.75 }

export interface AskedWord {
  /** Folded, not stemmed. */
  readonly word: string
  /** 1 unless the question says otherwise. */
  readonly boost: number
  readonly keys: WordKeys
}

/** The texts that are asked: some of those counted, or several of them together. */
export interface AskedTexts {
  readonly counts: WordCounts
  /** Words by text. */
  readonly lengths: Float64Array
  readonly meanLength: number
  /** By number in `counts`: the text it is, or is part of; -1: it is not asked. */
  readonly textOf: Int32Array
  /** The other text that it is part of, or -1. */
  readonly alsoTextOf: Int32Array | null
}

export interface TextScores {
  /** By text; 0 where none of the words occurs. */
  readonly scores: Float64Array
  /** Texts whose score is above 0, each once, in no order. */
  readonly found: readonly number[]
  /** What no text can exceed. */
  readonly possible: number
  /** In the order in which what they add is added up. */
  readonly words: readonly string[]
  /** What the word of that place adds in one text; NaN where it does not occur. */
  partOf(word: number, text: number): number
}

interface Match {
  readonly word: string
  readonly weight: number
  /** Texts that have the word, and how often each. */
  readonly texts: readonly number[]
  readonly counts: readonly number[]
}

export function scoreTexts(texts: AskedTexts, words: readonly AskedWord[], parameters: Bm25Parameters): TextScores {
  const { lengths, meanLength } = texts
  const { k1, b } = parameters
  const matches = matchesOf(texts, words)
  const scoreOf = ({ weight, counts }: Match, place: number, text: number): number => {
    const count = counts[place] as number
    return (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * (lengths[text] as number)) / meanLength))
  }
  const scores = new Float64Array(lengths.length)
  const found: number[] = []
  for (const match of matches) {
    for (let place = 0; place < match.texts.length; place++) {
      const text = match.texts[place] as number
      const before = scores[text] as number
      const score = before + scoreOf(match, place, text)
      if (before === 0 && score > 0) found.push(text)
      scores[text] = score
    }
  }
  return {
    ...{ scores, found },
    possible: matches.reduce((sum, { weight }) => sum + weight * (k1 + 1), 0),
    words: matches.map(({ word }) => word),
    partOf: (word, text) => {
      const match = matches[word] as Match
      const place = match.texts.indexOf(text)
      return place < 0 ? Number.NaN : scoreOf(match, place, text)
    },
  }
}

function matchesOf(texts: AskedTexts, words: readonly AskedWord[]): readonly Match[] {
  const { counts, lengths, textOf: first, alsoTextOf } = texts
  const counted = new Uint16Array(lengths.length)
  const matches = words.map(({ word, boost, keys }): Match => {
    const having: number[] = []
    const add = (text: number | undefined, count: number): void => {
      if (text === undefined || text < 0) return
      if (counted[text] === 0) having.push(text)
      counted[text] = (counted[text] as number) + count
    }
    for (const postings of counts.postings(keys)) {
      for (const posting of postings) {
        const number = textOf(posting)
        add(first[number], countOf(posting))
        if (alsoTextOf !== null) add(alsoTextOf[number], countOf(posting))
      }
    }
    const own = having.map(text => counted[text] as number)
    for (const text of having) counted[text] = 0
    return { word, weight: boost * idf(lengths.length, having.length), texts: having, counts: own }
  })
  return matches.sort(heaviestFirst)
}

/** The order in which scores are added up: then equal sums are equal numbers. */
function heaviestFirst(a: Match, b: Match): number {
  return b.weight - a.weight || (a.word < b.word ? -1 : 1)
}
