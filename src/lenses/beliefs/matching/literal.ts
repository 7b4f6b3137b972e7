/** When words stand in a content as they are written (BQ-038), and when a phrase does (BQ-039). */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Store } from '../../../store/store.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { BeliefColumns } from '../columns/columns.ts'

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu
const IN_TOKEN = /[\p{L}\p{N}\p{M}]/u

/** Compatibility characters resolved, lower case of no locale, runs of blanks made one. */
export function foldContent(text: string): string {
  return resolved(text).toLowerCase().replace(/\s+/gu, ' ')
}

/** The runs of letters, digits and marks of an operand, folded; empty when it has none. */
export function tokensOf(operand: string): readonly string[] {
  return foldContent(operand).match(TOKEN) ?? []
}

/** Whether these tokens stand next to each other in a folded content. Parts of words do not count. */
export function hasTokens(folded: string, tokens: readonly string[]): boolean {
  const [first] = tokens
  if (first === undefined) return false
  for (let at = folded.indexOf(first); at >= 0; at = folded.indexOf(first, at + 1)) {
    if (isInTokenBefore(folded, at)) continue
    if (tokens.length > 1) return hasTokensFrom(folded, at, tokens)
    if (!isInToken(folded, at + first.length)) return true
  }
  return false
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

/** One pass over the tokens from there on (Knuth, Morris and Pratt): contents and operands may be one word again and again. */
function hasTokensFrom(folded: string, from: number, tokens: readonly string[]): boolean {
  const borders = bordersOf(tokens)
  let met = 0
  for (let at = nextToken(folded, from); at < folded.length; ) {
    const end = endOfToken(folded, at)
    const isNext = (token: string) => end - at === token.length && folded.startsWith(token, at)
    while (met > 0 && !isNext(tokens[met] as string)) met = borders[met - 1] as number
    if (isNext(tokens[met] as string)) met++
    if (met === tokens.length) return true
    at = nextToken(folded, end)
  }
  return false
}

/** For each beginning of the list, how long a shorter one is that it ends with. */
function bordersOf(tokens: readonly string[]): readonly number[] {
  const borders = [0]
  let length = 0
  for (let at = 1; at < tokens.length; at++) {
    while (length > 0 && tokens[at] !== tokens[length]) length = borders[length - 1] as number
    if (tokens[at] === tokens[length]) length++
    borders.push(length)
  }
  return borders
}

function endOfToken(folded: string, from: number): number {
  let at = from
  while (isInToken(folded, at)) at += widthAt(folded, at)
  return at
}

function nextToken(folded: string, from: number): number {
  let at = from
  while (at < folded.length && !isInToken(folded, at)) at += widthAt(folded, at)
  return at
}

function isInToken(text: string, at: number): boolean {
  const code = text.codePointAt(at)
  return code !== undefined && isTokenCode(code)
}

function isInTokenBefore(text: string, at: number): boolean {
  if (at === 0) return false
  const unit = text.charCodeAt(at - 1)
  const isLow = unit >= 0xdc00 && unit <= 0xdfff && at > 1
  return isTokenCode(text.codePointAt(isLow ? at - 2 : at - 1) as number)
}

function isTokenCode(code: number): boolean {
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return IN_TOKEN.test(String.fromCodePoint(code))
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1
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
