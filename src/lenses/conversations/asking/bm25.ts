/**
 * BM25 scores of short texts (messages and blocks of messages) for the words of a query. All statistics are computed from the searched
 * texts alone.
 */
import { Columns } from '../../../base/columns.ts'
import type { Steps } from '../../../base/turns.ts'
import { idf } from '../../../math/bm25.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { eachToken } from '../../../text/tokenise.ts'

export interface Bm25Parameters {
  readonly k1: number
  readonly b: number
}

/** BM25 parameters for messages between people and for blocks of messages, where the length of a text says little. */
export const OF_MESSAGES: Bm25Parameters = { k1: 0.9, b: 0.4 }
/** BM25 parameters for chats with an assistant, whose messages are searched in pieces of up to 120 words. */
export const OF_PIECES: Bm25Parameters = { k1: 1.2, b: 0.75 }

export interface AskedWord {
  /** The query word, folded (without case and accents) but not reduced to its stem. */
  readonly word: string
  /** Weight of the word; 1 unless the query says otherwise. */
  readonly boost: number
  readonly stems: WordStems
}

/** The texts to be scored. Each consists of one or several smaller texts, called counted texts, whose words have been counted. */
export interface AskedTexts {
  readonly counts: WordCounts
  /** Whether the words around each counted text count too, such as those of the question before a message. */
  readonly withAround: boolean
  /** Number of words of each searched text, by its index. */
  readonly lengths: Float64Array
  readonly meanLength: number
  /**
   * For each counted text (a message or piece of one), by its number: the index of the text to be scored that contains it, or -1 where none
   * does.
   */
  readonly textOf: Int32Array
  /**
   * For each counted text (a message or piece of one): the index of a second text to be scored that contains it, or -1. Null: no counted
   * text is in two of them.
   */
  readonly alsoTextOf: Int32Array | null
}

export interface TextScores {
  /** BM25 score of each searched text; 0 where none of the query's words occurs. */
  readonly scores: Float64Array
  /** Indexes of the texts with a score above 0, in no particular order, without duplicates. */
  readonly found: Uint32Array
  /** Upper bound of the score of a text for the query's words. */
  readonly possible: number
  /** Positions of the words in the query, listed in the order in which the words' scores are added. */
  readonly order: readonly number[]
  /** Amount that the query word at index `word` of `order` adds to the score of a text; NaN where the word does not occur in the text. */
  partOf(word: number, text: number): number
}

/** A query word with its weight and the range `start` to `end` of its occurrences in the list of all occurrences. */
interface Match {
  readonly word: string
  readonly place: number
  readonly weight: number
  readonly start: number
  readonly end: number
}

/** Number of word occurrences processed between two pauses for other work: about a millisecond. */
const STEP = 50_000

/** Computes the BM25 scores of texts, pausing for other work in between. Texts whose words are counted during a pause are ignored. */
export function* scoreTexts(
  texts: AskedTexts,
  words: readonly AskedWord[],
  { k1, b }: Bm25Parameters,
): Steps<TextScores> {
  const { lengths, meanLength } = texts
  const occurrences = new Occurrences(texts)
  const matches = yield* matchesOf(words, occurrences, lengths.length)
  const scoreOf = (weight: number, count: number, text: number): number =>
    (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * (lengths[text] as number)) / meanLength))
  const scores = new Float64Array(lengths.length)
  const found = new Uint32Array(Math.min(lengths.length, occurrences.texts.length))
  const addScores = ({ weight, start, end }: Match, from: number): number => {
    let all = from
    for (let at = start; at < end; at++) {
      const text = occurrences.texts[at] as number
      const before = scores[text] as number
      const score = before + scoreOf(weight, occurrences.counts[at] as number, text)
      if (before === 0 && score > 0) found[all++] = text
      scores[text] = score
    }
    return all
  }
  let all = 0
  let paused = 0
  for (let word = 0, read = 0; word < matches.length; word++) {
    const match = matches[word] as Match
    all = addScores(match, all)
    read += match.end - match.start
    if (read - paused < STEP) continue
    paused = read
    yield
  }
  return {
    scores,
    found: found.subarray(0, all),
    possible: matches.reduce((sum, { weight }) => sum + weight * (k1 + 1), 0),
    order: matches.map(({ place }) => place),
    partOf: (word, text) => {
      const { weight, start, end } = matches[word] as Match
      const at = occurrences.placeOf(text, start, end)
      return at < 0 ? Number.NaN : scoreOf(weight, occurrences.counts[at] as number, text)
    },
  }
}

/**
 * The query words with the texts in which they occur, sorted by weight (boost times idf), highest first. Scores are always added in this
 * order, so that equal sums are bit-identical.
 */
function* matchesOf(words: readonly AskedWord[], occurrences: Occurrences, texts: number): Steps<readonly Match[]> {
  const matches = new Array<Match>(words.length)
  let paused = 0
  for (let place = 0; place < words.length; place++) {
    const { word, boost, stems } = words[place] as AskedWord
    const start = occurrences.texts.length
    occurrences.add(stems)
    const end = occurrences.texts.length
    matches[place] = { word, place, weight: boost * idf(texts, end - start), start, end }
    if (end - paused < STEP) continue
    paused = end
    yield
  }
  return matches.sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
}

/**
 * A list of the texts in which query words occur and how often, ordered by word: all occurrences of the first word, then all of the next.
 */
class Occurrences implements OccurrenceVisitor {
  readonly texts: number[] = []
  readonly counts: number[] = []
  readonly #of: AskedTexts
  /**
   * For each text to be scored: 1 plus the index in the list `texts` of the entry that was added last for it. 0: the text is not in that
   * list yet.
   */
  readonly #ends: Uint32Array
  /** Index in the list `texts` of the first entry for the query word that is currently being added. */
  #start = 0

  constructor(of: AskedTexts) {
    this.#of = of
    this.#ends = new Uint32Array(of.lengths.length)
  }

  add(stems: WordStems): void {
    this.#start = this.texts.length
    this.#of.counts.each(stems, this.#of.withAround, this)
  }

  /** Index of the text among the occurrences from `start` (inclusive) to `end` (exclusive); -1: the text is not among them. */
  placeOf(text: number, start: number, end: number): number {
    for (let at = start; at < end; at++) if (this.texts[at] === text) return at
    return -1
  }

  visit(number: number, count: number): void {
    const { textOf, alsoTextOf } = this.#of
    if (number >= textOf.length) return
    this.#add(textOf[number] as number, count)
    if (alsoTextOf !== null) this.#add(alsoTextOf[number] as number, count)
  }

  #add(text: number, count: number): void {
    if (text < 0) return
    const known = (this.#ends[text] as number) - 1
    if (known >= this.#start) {
      this.counts[known] = (this.counts[known] as number) + count
      return
    }
    this.counts.push(count)
    this.#ends[text] = this.texts.push(text)
  }
}

/** Largest stored count of a word in one text; BM25 hardly distinguishes larger counts. */
const MAX_COUNTED = 255
/** Number of postings (pairs of word and text) for which the arrays initially have room. */
const POSTINGS = 64
const NONE = -1

/** A text reduced to how often each of its words occurs. */
export interface CountedText {
  readonly language: Language
  /** Number of occurrences of each word in the text, by the word's stem. */
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

export function countWords(text: string, language: Language): CountedText {
  const counts = new Map<string, number>()
  let length = 0
  eachToken(text, (term, _start, _end, alias) => {
    if (isStopWord(term, language)) return
    if (!alias) length++
    const key = stem(term, language)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  return { language, counts, length }
}

/** The stems of one query word in the languages of the searched texts; a stem is computed once and used for all conversations. */
export class WordStems {
  readonly #word: string
  readonly #stems = new Map<Language, string | null>()

  constructor(word: string) {
    this.#word = word
  }

  /** Stem of the query word in a language; null: the word is a stop word in that language, which is not counted. */
  of(language: Language): string | null {
    const known = this.#stems.get(language)
    if (known !== undefined) return known
    const found = isStopWord(this.#word, language) ? null : stem(this.#word, language)
    this.#stems.set(language, found)
    return found
  }
}

/** Receives each text in which a word occurs, with the number of occurrences. */
interface OccurrenceVisitor {
  visit(text: number, count: number): void
}

/**
 * Word counts of a growing number of short texts, which is all that BM25 needs. Words are reduced to their stems in the text's language;
 * stop words are neither counted nor part of a text's length. Numbers are in typed arrays: there are millions of them, and the garbage
 * collector need not traverse these arrays.
 */
export class WordCounts {
  /**
   * For each language and stem, the index of the newest posting (one stem in one text, with its number of occurrences). Each posting holds
   * the index of the one before it, so that all can be visited. A text has one language.
   */
  readonly #last = new Map<Language, Map<string, number>>()
  readonly #postings = new Columns(
    {
      before: { of: Int32Array },
      texts: { of: Int32Array },
      /** Number of occurrences of the stem in the text itself (`own`) and in its surrounding text (`around`). */
      own: { of: Uint8Array },
      around: { of: Uint8Array },
    },
    POSTINGS,
  )
  #count = 0
  readonly #lengths: number[] = []
  readonly #lengthsAround: number[] = []

  /**
   * Counts the words of a text and returns the text's number, from 0. `around`: word counts of the surrounding text (such as the question
   * before a message), in the same language.
   */
  add(text: CountedText, around: CountedText | null = null): number {
    const number = this.#lengths.length
    const last = this.#last.get(text.language) ?? new Map<string, number>()
    this.#last.set(text.language, last)
    for (const [word, count] of text.counts) this.#post(last, word, number, count, around?.counts.get(word) ?? 0)
    for (const [word, count] of around?.counts ?? []) {
      if (!text.counts.has(word)) this.#post(last, word, number, 0, count)
    }
    this.#lengths.push(text.length)
    this.#lengthsAround.push(around?.length ?? 0)
    return number
  }

  /** Length of a counted text in words, without stop words; with its surrounding text if `withAround` is true. */
  lengthOf(text: number, withAround: boolean): number {
    return (this.#lengths[text] as number) + (withAround ? (this.#lengthsAround[text] as number) : 0)
  }

  /** Calls the visitor once for each text in which a query word occurs, in no particular order. */
  each(stems: WordStems, withAround: boolean, visitor: OccurrenceVisitor): void {
    const { before, texts, own: counts, around } = this.#postings.arrays
    for (const [language, last] of this.#last) {
      const word = stems.of(language)
      let posting = word === null ? NONE : (last.get(word) ?? NONE)
      while (posting !== NONE) {
        const own = counts[posting] as number
        const count = withAround ? Math.min(MAX_COUNTED, own + (around[posting] as number)) : own
        if (count > 0) visitor.visit(texts[posting] as number, count)
        posting = before[posting] as number
      }
    }
  }

  #post(last: Map<string, number>, word: string, text: number, own: number, around: number): void {
    const posting = this.#count++
    this.#postings.reserve(this.#count)
    const { before, texts, own: counts, around: countsAround } = this.#postings.arrays
    before[posting] = last.get(word) ?? NONE
    texts[posting] = text
    counts[posting] = Math.min(own, MAX_COUNTED)
    countsAround[posting] = Math.min(around, MAX_COUNTED)
    last.set(word, posting)
  }
}
