/**
 * How often which words occur in each of a growing number of short texts: all that BM25 needs of them. Words are stems of
 * the language that the text is in; stop words are left out, and do not count in its length. Numbers stand in typed arrays:
 * there are millions of them, and nothing that the garbage collector would have to walk through.
 */
import { grown } from '../../../base/grown.ts'
import { stem } from '../../../text/stem.ts'
import { isStopWord, type Language } from '../../../text/stopwords.ts'
import { eachToken } from '../../../text/tokenise.ts'

/** Occurrences in one text that are told apart; saturation makes of more the same. */
const MOST_COUNTED = 255
/** Postings that there is room for at first. */
const ROOM = 64
const NONE = -1

/** The words of a text, counted. */
export interface CountedText {
  readonly language: Language
  /** By stem. */
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

/** What texts have of a folded word, by their language; made once for all conversations. */
export class WordStems {
  readonly #word: string
  readonly #stems = new Map<Language, string | null>()

  constructor(word: string) {
    this.#word = word
  }

  /** Null: a stop word, which is not counted. */
  of(language: Language): string | null {
    const known = this.#stems.get(language)
    if (known !== undefined) return known
    const found = isStopWord(this.#word, language) ? null : stem(this.#word, language)
    this.#stems.set(language, found)
    return found
  }
}

/** The words of the texts in one language; no text is in two. */
interface Vocabulary {
  readonly language: Language
  /** By stem, the last posting; each posting knows the one before it. */
  readonly last: Map<string, number>
}

/** What is told of the occurrences of a word. */
export interface OccurrenceVisitor {
  visit(text: number, count: number): void
}

export class WordCounts {
  readonly #vocabularies: Vocabulary[] = []
  #postings = 0
  #before = new Int32Array(ROOM)
  #texts = new Int32Array(ROOM)
  #own = new Uint8Array(ROOM)
  #around = new Uint8Array(ROOM)
  readonly #lengths: number[] = []
  readonly #lengthsAround: number[] = []

  /** Returns the text's number: they count from 0. `around`: what stands around the text, in the same language. */
  add(text: CountedText, around: CountedText | null = null): number {
    const number = this.#lengths.length
    const { last } = this.#vocabularyOf(text.language)
    for (const [word, count] of text.counts) this.#post(last, word, number, count, around?.counts.get(word) ?? 0)
    for (const [word, count] of around?.counts ?? []) {
      if (!text.counts.has(word)) this.#post(last, word, number, 0, count)
    }
    this.#lengths.push(text.length)
    this.#lengthsAround.push(around?.length ?? 0)
    return number
  }

  /** In words that are no stop words. */
  lengthOf(text: number, withAround: boolean): number {
    return (this.#lengths[text] as number) + (withAround ? (this.#lengthsAround[text] as number) : 0)
  }

  /** The texts that a word occurs in, each once, in no order. */
  each(stems: WordStems, withAround: boolean, visitor: OccurrenceVisitor): void {
    for (let at = 0; at < this.#vocabularies.length; at++) {
      const { language, last } = this.#vocabularies[at] as Vocabulary
      const word = stems.of(language)
      let posting = word === null ? NONE : (last.get(word) ?? NONE)
      while (posting !== NONE) {
        const own = this.#own[posting] as number
        const count = withAround ? Math.min(MOST_COUNTED, own + (this.#around[posting] as number)) : own
        if (count > 0) visitor.visit(this.#texts[posting] as number, count)
        posting = this.#before[posting] as number
      }
    }
  }

  #vocabularyOf(language: Language): Vocabulary {
    const known = this.#vocabularies.find(vocabulary => vocabulary.language === language)
    if (known !== undefined) return known
    const vocabulary = { language, last: new Map<string, number>() }
    this.#vocabularies.push(vocabulary)
    return vocabulary
  }

  #post(last: Map<string, number>, word: string, text: number, own: number, around: number): void {
    const posting = this.#postings++
    if (posting === this.#texts.length) this.#grow()
    this.#before[posting] = last.get(word) ?? NONE
    this.#texts[posting] = text
    this.#own[posting] = Math.min(own, MOST_COUNTED)
    this.#around[posting] = Math.min(around, MOST_COUNTED)
    last.set(word, posting)
  }

  #grow(): void {
    this.#before = grown(this.#before, this.#postings)
    this.#texts = grown(this.#texts, this.#postings)
    this.#own = grown(this.#own, this.#postings)
    this.#around = grown(this.#around, this.#postings)
  }
}
