/** When words stand in a content as they are written (BQ-038), and when a phrase does (BQ-039). */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store } from '../../../store/store.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { BeliefColumns } from '../columns/columns.ts'

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu
const BETWEEN_TOKENS = /[^\p{L}\p{N}\p{M}]+/gu

/** Compatibility characters resolved, lower case of no locale, runs of blanks made one. */
export function foldContent(text: string): string {
  return resolved(text).toLowerCase().replace(/\s+/gu, ' ')
}

/** The runs of letters, digits and marks of an operand, folded; empty when it has none. */
export function tokensOf(operand: string): readonly string[] {
  return foldContent(operand).match(TOKEN) ?? []
}

/** The content that was split last: several operands are looked for in one content after the other. */
let split = { folded: '', words: '' }

/** The tokens of a folded content, with a blank before and after each. */
function wordsIn(folded: string): string {
  if (split.folded !== folded) split = { folded, words: ` ${folded.replace(BETWEEN_TOKENS, ' ')} ` }
  return split.words
}

/** Whether these tokens are next to each other in a folded content. Parts of words do not count. */
export function hasTokens(folded: string, tokens: readonly string[]): boolean {
  const [first] = tokens
  // Most contents do not have the first one at all, and need not be split.
  return first !== undefined && folded.includes(first) && wordsIn(folded).includes(` ${tokens.join(' ')} `)
}

/** The words of a text without stop words, folded, each once; all words where there are only stop words. */
export function contentWords(text: string): readonly string[] {
  const words = tokensOf(text)
  const languages = languagesOfQuestion(words)
  const found = words.filter(word => !languages.some(language => isStopWord(word, language)))
  return [...new Set(found.length === 0 ? words : found)]
}

/** `phrase` is folded and trimmed. */
export function hasPhrase(folded: string, phrase: string): boolean {
  return folded.includes(phrase)
}

/** Marks in a row that are put in order together: to order many takes the square of their number, and no word has so many. */
const MAX_MARKS = 256
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u')
const PIECES = new RegExp(`\\P{M}*\\p{M}{0,${MAX_MARKS}}`, 'gu')

function resolved(text: string): string {
  if (text.length <= MAX_MARKS || !TOO_MANY_MARKS.test(text)) return text.normalize('NFKC')
  return text.replace(PIECES, piece => piece.normalize('NFKC'))
}

/** Characters that are kept: of 200,000 beliefs of usual length. */
const ROOM = 64 * 1024 * 1024
const PAGE = 500

/** Contents as words and phrases are looked for in them: folded, and kept as far as there is room. */
export class Contents {
  readonly #store: Store
  readonly #columns: BeliefColumns
  /** By content, so that a changed one is another. */
  readonly #known = new Map<string, string>()
  #characters = 0

  constructor(store: Store, columns: BeliefColumns) {
    this.#store = store
    this.#columns = columns
  }

  /**
   * Calls back with the folded content of each of these rows, in their order. What has just gone is left out. `looked` is told
   * of the characters that are folded again, and may throw. A step for each page.
   */
  *each(
    rows: Int32Array,
    visit: (row: number, folded: string) => void,
    looked: (characters: number) => void = () => {},
  ): Steps<void> {
    for (let from = 0; from < rows.length; from += PAGE) {
      const page = rows.subarray(from, from + PAGE)
      const unknown = page.filter(row => !this.#known.has(this.#columns.contentOf(row)))
      const read = this.#read(unknown, looked)
      for (const row of page) {
        const key = this.#columns.contentOf(row)
        const folded = this.#known.get(key) ?? read.get(key)
        if (folded !== undefined) visit(row, folded)
      }
      yield
    }
  }

  #read(rows: Int32Array, looked: (characters: number) => void): ReadonlyMap<string, string> {
    const read = new Map<string, string>()
    if (rows.length === 0) return read
    const { entries } = this.#columns.arrays
    for (const { key, content } of this.#store.entries(Array.from(rows, row => entries[row] as EntryKey))) {
      looked(content.length)
      const folded = foldContent(content)
      const name = this.#columns.contentOf(this.#columns.rowOf(key))
      read.set(name, folded)
      this.#keep(name, folded)
    }
    return read
  }

  #keep(name: string, folded: string): void {
    if (this.#characters + folded.length > ROOM) {
      this.#known.clear()
      this.#characters = 0
    }
    this.#known.set(name, folded)
    this.#characters += folded.length
  }
}
