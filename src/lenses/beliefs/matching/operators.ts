/** Applies the operators of a query's text to beliefs: required terms, excluded terms and phrases (BQ-037 to BQ-039). */
import type { Steps } from '../../../base/turns.ts'
import type { VectorSearcher } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import type { Store } from '../../../store/store.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { TimeLimit } from '../time-limit.ts'
import type { Matches } from './in-scope.ts'

/** A term of the query's text, one word or the words of a quotation, with the vector of the term; null: it has none. */
export interface Operand {
  readonly text: string
  readonly vector: Float32Array | null
}

/** The operators of a query's text: required terms, excluded terms, and phrases. */
export interface TextOperators {
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly phrases: readonly string[]
}

interface OperatorsRequest extends TextOperators {
  readonly columns: BeliefColumns
  readonly contents: Contents
  readonly matches: Matches
  /** Raw cosines from which a required or excluded term counts as meant by a belief; null: terms are compared only literally. */
  readonly thresholds: { readonly include: number; readonly exclude: number } | null
  readonly index: VectorSearcher | null
  readonly accessScope: AccessScope
  readonly time?: TimeLimit | undefined
}

/**
 * The beliefs among `matches` that meet all operators of the text. It pauses after every few hundred contents so that other work can run.
 */
export function* meetingOperators(request: OperatorsRequest): Steps<Matches> {
  const { include, exclude, phrases, thresholds } = request
  let { matches } = request
  if (include.length + exclude.length + phrases.length === 0) return matches
  matches = yield* holding(request, matches, phrases.map(wholePhrase), true)
  matches = yield* without(request, matches, exclude, thresholds?.exclude ?? null)
  for (const operand of include) {
    const meant = meaning(request, matches, operand, thresholds?.include ?? null)
    const test = wordTest(operand)
    const literal: Matches = yield* holding(
      request,
      matches.where(row => !meant.has(row)),
      [test],
      true,
    )
    const kept = new Set([...meant, ...literal.rows])
    matches = matches.where(row => kept.has(row))
  }
  return matches
}

/** The beliefs among `matches` that literally contain at least one of the required terms. */
export function* holdingAny(request: Omit<OperatorsRequest, 'exclude' | 'phrases'>): Steps<Matches> {
  const { matches, include } = request
  const without: Matches = yield* holding(request, matches, include.map(wordTest), false)
  return matches.where(row => !without.has(row))
}

type Test = (folded: string) => boolean

function wholePhrase(phrase: string): Test {
  const wanted = foldContent(phrase).trim()
  return folded => hasPhrase(folded, wanted)
}

function wordTest({ text }: Operand): Test {
  const tokens = tokensOf(text)
  return folded => hasTokens(folded, tokens)
}

function* without(
  request: OperatorsRequest,
  matches: Matches,
  operands: readonly Operand[],
  threshold: number | null,
): Steps<Matches> {
  let left = matches
  for (const operand of operands) {
    const meant = meaning(request, left, operand, threshold)
    left = left.where(row => !meant.has(row))
    yield
  }
  return yield* holding(request, left, operands.map(wordTest), false)
}

/** With `wanted`, the beliefs whose content passes all tests; without it, the beliefs whose content passes none. */
function* holding(
  { contents, time }: Pick<OperatorsRequest, 'contents' | 'time'>,
  matches: Matches,
  tests: readonly Test[],
  wanted: boolean,
): Steps<Matches> {
  if (tests.length === 0) return matches
  const passed = new Set<number>()
  const looked = time?.reader()
  const passes = (test: Test, folded: string): boolean => {
    looked?.(folded.length)
    return test(folded)
  }
  const visit = (row: number, folded: string): void => {
    if (tests.every(test => passes(test, folded) === wanted)) passed.add(row)
  }
  time?.check()
  yield* contents.each(matches.rows, visit, looked)
  return matches.where(row => passed.has(row))
}

const FIRST = 256

/** The rows in `matches` whose raw cosine with the vector of a term reaches the threshold; none if the term has no vector. */
function meaning(
  { columns, index, time, accessScope: { partitions } }: OperatorsRequest,
  matches: Matches,
  { vector }: Operand,
  threshold: number | null,
): ReadonlySet<number> {
  if (vector === null || index === null || threshold === null || matches.count === 0) return new Set()
  for (let k = FIRST; ; k *= 4) {
    time?.check()
    const hits = index.search({ vector, k, partitions, allow: matches.bits })
    const isAll = hits.length < k || (hits.at(-1)?.score ?? 0) < threshold
    if (!isAll) continue
    const near = hits.filter(({ score }) => score >= threshold)
    return new Set(near.map(({ entry }) => columns.rowOf(entry as EntryKey)))
  }
}

// The functions below decide whether a content literally contains given words (BQ-038) or a phrase (BQ-039).

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu
const BETWEEN_TOKENS = /[^\p{L}\p{N}\p{M}]+/gu

/**
 * Folds a text for literal comparison: Unicode normal form NFKC, lower case independent of the locale, runs of white space reduced to one
 * blank.
 */
export function foldContent(text: string): string {
  return resolved(text).toLowerCase().replace(/\s+/gu, ' ')
}

/** Splits a term into its runs of letters, digits and combining marks, folded for literal comparison; empty if it has none. */
export function tokensOf(operand: string): readonly string[] {
  return foldContent(operand).match(TOKEN) ?? []
}

/** The content that was split into words last and the result, kept because several terms are searched for in one content. */
let split = { folded: '', words: '' }

/** The words of a folded content, each with a blank before and after it, so that whole words can be searched for. */
function wordsIn(folded: string): string {
  if (split.folded !== folded) split = { folded, words: ` ${folded.replace(BETWEEN_TOKENS, ' ')} ` }
  return split.words
}

/** Whether a folded content contains these words directly one after the other, as whole words. */
export function hasTokens(folded: string, tokens: readonly string[]): boolean {
  const [first] = tokens
  // Most contents do not contain the first word even as part of another word; the content then need not be split into words.
  return first !== undefined && folded.includes(first) && wordsIn(folded).includes(` ${tokens.join(' ')} `)
}

/** The words of a text, folded and each once, without stop words; if the text has only stop words, all of them. */
export function contentWords(text: string): readonly string[] {
  const words = tokensOf(text)
  const languages = languagesOfQuestion(words)
  const found = words.filter(word => !languages.some(language => isStopWord(word, language)))
  return [...new Set(found.length === 0 ? words : found)]
}

/** Share of the given words that a folded content contains, 0 to 1. */
export function shareOfWords(words: readonly string[], folded: string): number {
  return words.length === 0 ? 0 : words.filter(word => hasTokens(folded, [word])).length / words.length
}

/** Whether a folded content contains a phrase, not necessarily as whole words. `phrase` must be folded and trimmed. */
export function hasPhrase(folded: string, phrase: string): boolean {
  return folded.includes(phrase)
}

/**
 * Maximum number of consecutive combining marks (such as accents) that are normalised together. The time for normalisation grows with the
 * square of their number, and no real word has so many.
 */
const MAX_MARKS = 256
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u')
const PIECES = new RegExp(`\\P{M}*\\p{M}{0,${MAX_MARKS}}`, 'gu')

function resolved(text: string): string {
  if (text.length <= MAX_MARKS || !TOO_MANY_MARKS.test(text)) return text.normalize('NFKC')
  return text.replace(PIECES, piece => piece.normalize('NFKC'))
}

/**
 * Maximum number of characters of folded contents in the cache, enough for 200,000 beliefs of usual length; and the number of beliefs read
 * in one step.
 */
const ROOM = 64 * 1024 * 1024
const PAGE = 500

/** Gives the folded contents of beliefs, in which words and phrases are searched for; as many as fit are cached. */
export class Contents {
  readonly #store: Store
  readonly #columns: BeliefColumns
  /**
   * Folded contents (in the form used for literal comparison), by the hash of the original content. When a belief's content changes, its
   * hash does too, so the folded form of the old content is never used for it.
   */
  readonly #known = new Map<string, string>()
  #characters = 0

  constructor(store: Store, columns: BeliefColumns) {
    this.#store = store
    this.#columns = columns
  }

  /**
   * Calls `visit` with the folded content of each row, in order; beliefs deleted meanwhile are left out. `looked` receives the number of
   * characters that had to be folded, and may throw to stop. It pauses after each page so that other work can run.
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
