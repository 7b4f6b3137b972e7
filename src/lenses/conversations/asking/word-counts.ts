/**
 * How often which words occur in each of a growing number of short texts: all that BM25 needs of them. Words are stems of
 * the language that the text is in; stop words are left out, and do not count in its length.
 */
import { stem } from '../../../text/stem.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { eachToken } from '../../../text/tokenise.ts'

/** Occurrences in one text that are told apart; saturation makes of more the same. */
const MOST_COUNTED = 255
const COUNT_BITS = 8

/** Texts in which a word occurs, ascending, each `text × 256 + occurrences`: 16 million texts at most. */
export type Postings = readonly number[]

/** The words of a text, counted. */
export interface CountedText {
  readonly language: Language
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

export function countWords(text: string, language: Language): CountedText {
  const counts = new Map<string, number>()
  let length = 0
  eachToken(text, (term, _start, _end, alias) => {
    if (isStopWord(term, language)) return
    if (!alias) length++
    const key = keyOf(stem(term, language), language)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  return { language, counts, length }
}

const EMPTY: CountedText = { language: 'en', counts: new Map(), length: 0 }

function sumOf(parts: readonly CountedText[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>()
  for (const { counts } of parts) for (const [key, count] of counts) sum.set(key, (sum.get(key) ?? 0) + count)
  return sum
}

/** What texts have of a folded word, by their language; made once for all conversations. */
export class WordKeys {
  readonly #word: string
  readonly #keys = new Map<Language, string | null>()

  constructor(word: string) {
    this.#word = word
  }

  /** Null: a stop word, which is not counted. */
  of(language: Language): string | null {
    const known = this.#keys.get(language)
    if (known !== undefined) return known
    const key = isStopWord(this.#word, language) ? null : keyOf(stem(this.#word, language), language)
    this.#keys.set(language, key)
    return key
  }
}

export class WordCounts {
  readonly #postings = new Map<string, number[]>()
  readonly #lengths: number[] = []
  readonly #languages = new Set<Language>()

  /** Returns the text's number: they count from 0. `parts` stand behind each other, in one language. */
  add(...parts: readonly CountedText[]): number {
    const number = this.#lengths.length
    const [first = EMPTY, ...others] = parts
    const counts = others.length === 0 ? first.counts : sumOf(parts)
    for (const [key, count] of counts) {
      const posting = ((number << COUNT_BITS) | Math.min(count, MOST_COUNTED)) >>> 0
      const postings = this.#postings.get(key)
      if (postings === undefined) this.#postings.set(key, [posting])
      else postings.push(posting)
    }
    this.#lengths.push(parts.reduce((sum, { length }) => sum + length, 0))
    this.#languages.add(first.language)
    return number
  }

  /** By text: words that are no stop words. */
  get lengths(): readonly number[] {
    return this.#lengths
  }

  /** One list a language, as no text is in two. */
  postings(keys: WordKeys): readonly Postings[] {
    const lists: Postings[] = []
    for (const language of this.#languages) {
      const key = keys.of(language)
      const found = key === null ? undefined : this.#postings.get(key)
      if (found !== undefined) lists.push(found)
    }
    return lists
  }
}

export function textOf(posting: number): number {
  return posting >>> COUNT_BITS
}

export function countOf(posting: number): number {
  return posting & MOST_COUNTED
}

function keyOf(stem: string, language: Language): string {
  return language + stem
}
