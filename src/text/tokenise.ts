/**
 * Splits text into folded words with their offsets.
 *
 * - A word is a run of letters, digits and marks of any script. `don't` gives `don`: endings after an apostrophe are dropped.
 * - Identifiers are cut at case, underscore and dot, and kept whole as well: `parseQuery` gives `parse`, `query` and
 *   the alias `parsequery`; `node.js` gives `node`, `js` and `nodejs`. Hyphens only cut: `well-known` is two words.
 * - Abbreviations written with dots are one word without them: `U.S.` gives `us`, `e.g.` gives `eg`, which is a stop word.
 * - A number keeps its dots: `3.14`, `1.2.3`. `0xD020` has the alias `d020`, which is also what `$D020` gives.
 * - Scripts without spaces (Chinese, Japanese, Korean, Thai…) give single characters, with each pair as an alias.
 *
 * The words that are not aliases form the text's sequence: they have consecutive positions, count in the text's length, and form phrases.
 * An alias has the position of the first of the words for which it is another reading.
 */
import {
  classOf,
  DIGIT,
  IGNORED,
  LOWER,
  MARK,
  SEPARATOR,
  UNDERSCORE,
  UNSPACED,
  UPPER,
  widthAt,
} from './character-class.ts'
import { fold } from './normalise.ts'

/** Longest term, in UTF-16 units; a longer one (mostly encoded data) is cut there. */
export const MAX_TERM_LENGTH = 64

export interface Token {
  /** The text of the token: folded, never empty, not stemmed. */
  readonly term: string
  /** Offset in the text where the token starts, in UTF-16 units; `end` is excluded. */
  readonly start: number
  readonly end: number
  /** Whether the token is an alias: another reading of one or more words that begin at this offset. */
  readonly alias: boolean
}

export type TokenVisitor = (term: string, start: number, end: number, alias: boolean) => void

/** The tokens of a text in the order of their starts; a word comes before its aliases. */
export function tokenise(text: string): Token[] {
  const tokens: Token[] = []
  eachToken(text, (term, start, end, alias) => tokens.push({ term, start, end, alias }))
  return tokens
}

/**
 * Visits the tokens of a text without making a list. A long text can be visited in pieces: only tokens that start at or after `from` are
 * visited, until an offset at or after `until`, which is returned and with which the next piece begins. All pieces together give the same
 * tokens as the whole text.
 */
export function eachToken(text: string, visit: TokenVisitor, from = 0, until = text.length): number {
  let at = from
  while (at < until) {
    const kind = classOf(text, at)
    if (kind === UNSPACED) at = unspacedRun(text, at, visit, until)
    else if ((kind & (SEPARATOR | IGNORED | UNDERSCORE)) !== 0) at += widthAt(text, at)
    else {
      const end = plainWordEnd(text, at)
      if (end < 0) {
        at = compound(text, at, visit)
      } else {
        const word = text.slice(at, end)
        visit(kind === UPPER ? word.toLowerCase() : word, at, end, false)
        at = end
      }
    }
  }
  return at
}

/**
 * End offset of a simple word that starts at `start`: at least two letters a to z, of which at most the first is a capital, and nothing
 * after it that could continue an identifier; otherwise -1.
 */
function plainWordEnd(text: string, start: number): number {
  const first = text.charCodeAt(start) | 0x20
  if (first < 0x61 || first > 0x7a) return -1
  let end = start + 1
  let unit = text.charCodeAt(end)
  while (unit >= 0x61 && unit <= 0x7a) unit = text.charCodeAt(++end)
  if (end - start === 1 || end - start > MAX_TERM_LENGTH) return -1
  const isOver = unit === DOT ? !dotJoins(text, end) : PLAIN_ENDS.has(unit) || end === text.length
  return isOver ? end : -1
}

const DOT = 0x2e
/** Characters after which a simple word is certainly over: blank, line feed, tab, and certain punctuation signs. */
const PLAIN_ENDS: ReadonlySet<number> = new Set([...' \n\r\t,;:!?()[]{}"/-=<>*&|`'].map(sign => sign.charCodeAt(0)))

/**
 * Visits the characters in a run of a script without spaces, each with the marks that follow it; each pair of neighbours is visited as an
 * alias.
 */
function unspacedRun(text: string, from: number, visit: TokenVisitor, until: number): number {
  let start = from
  let end = clusterEnd(text, start)
  for (;;) {
    emit(text, start, end, false, visit)
    if (end >= text.length || classOf(text, end) !== UNSPACED) return end
    const next = clusterEnd(text, end)
    emit(text, start, next, true, visit)
    start = end
    end = next
    if (start >= until) return start
  }
}

function clusterEnd(text: string, start: number): number {
  let end = start + widthAt(text, start)
  while (end < text.length && (classOf(text, end) & (MARK | IGNORED)) !== 0) end += widthAt(text, end)
  return end
}

/**
 * Visits the words of an identifier, abbreviation or number, which may be joined by case, underscores and dots. Returns the offset after
 * it.
 */
function compound(text: string, from: number, visit: TokenVisitor): number {
  const abbreviated = abbreviationEnd(text, from)
  if (abbreviated > 0) {
    emitTerm(text.slice(from, abbreviated).replaceAll('.', ''), from, abbreviated, false, visit)
    return afterEnding(text, from, abbreviated)
  }
  let end = segmentEnd(text, from)
  if (isNumber(text, from, end)) {
    while (dotJoins(text, end) && isNumber(text, end + 1, segmentEnd(text, end + 1))) end = segmentEnd(text, end + 1)
    if (!dotJoins(text, end)) {
      emit(text, from, end, false, visit)
      return end
    }
    end = segmentEnd(text, from)
  }
  if (!dotJoins(text, end)) {
    segment(text, from, end, visit)
    return afterEnding(text, from, end)
  }
  let last = end
  while (dotJoins(text, last)) last = segmentEnd(text, last + 1)
  let whole: Word | null = { term: joinedTerm(text.slice(from, last)), start: from, end: last }
  for (let start = from; start < last; start = segmentEnd(text, start) + 1) {
    segment(text, start, segmentEnd(text, start), visit, whole)
    whole = null
  }
  return afterEnding(text, from, last)
}

/** Abbreviations that are recognised even without their last dot, since they are often written so. */
const OFTEN_UNFINISHED: ReadonlySet<string> = new Set(['e.g', 'i.e', 'a.m', 'p.m', 'u.s', 'u.k'])

/**
 * End offset of the abbreviation that begins at `from`, including its last dot; -1: none begins there. An abbreviation consists of two or
 * more single letters with a dot after each (`i.e.`, `U.S.A.`), some of which may be a capital with a small letter (`Ph.D.`, `M.Sc.`).
 * `p.x` is no abbreviation.
 */
function abbreviationEnd(text: string, from: number): number {
  let parts = 0
  let singles = 0
  let at = from
  for (;;) {
    const isUpper = (classOf(text, at) & UPPER) !== 0
    if (!isLetter(text, at)) return -1
    let end = at + widthAt(text, at)
    if (isUpper && isLetter(text, end) && (classOf(text, end) & LOWER) !== 0) end += widthAt(text, end)
    else singles++
    parts++
    if (end < text.length && (classOf(text, end) & IN_WORD) !== 0) return -1
    if (text[end] !== '.') return OFTEN_UNFINISHED.has(text.slice(from, end).toLowerCase()) ? end : -1
    at = end + 1
    if (!dotJoins(text, end)) return parts > 1 && singles > 0 ? at : -1
  }
}

function isLetter(text: string, at: number): boolean {
  return at < text.length && (classOf(text, at) & (LOWER | UPPER)) !== 0
}

const IN_WORD = LOWER | UPPER | DIGIT | UNDERSCORE | MARK | UNSPACED

interface Word {
  readonly term: string
  readonly start: number
  readonly end: number
}

/**
 * Visits a part of an identifier that contains no dots. After its first word come the aliases that begin there: the whole part, and
 * `around`, the longer identifier (with dots) that begins with this part.
 */
function segment(text: string, start: number, end: number, visit: TokenVisitor, around: Word | null = null): void {
  const cuts = isHex(text, start, end) ? [start, end] : cutsOf(text, start, end)
  for (let part = 0; part < cuts.length; part += 2) {
    emit(text, cuts[part] as number, cuts[part + 1] as number, false, visit)
    if (part > 0) continue
    if (cuts.length > 2) emitTerm(joinedTerm(text.slice(start, end)), start, end, true, visit)
    else aliasOfOneWord(text, start, end, visit)
    if (around !== null) emitTerm(around.term, around.start, around.end, true, visit)
  }
}

function aliasOfOneWord(text: string, start: number, end: number, visit: TokenVisitor): void {
  if (end - start === 1) {
    const sign = /^(?:\+\+|#)(?![\p{L}\p{N}+#])/u.exec(text.slice(end, end + 3))
    if (sign !== null) emit(text, start, end + sign[0].length, true, visit)
  } else if (isHex(text, start, end)) {
    emitTerm(text.slice(start + 2, end), start, end, true, visit)
  }
}

function segmentEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && (classOf(text, end) & (SEPARATOR | UNSPACED)) === 0) end += widthAt(text, end)
  return end
}

/** Whether a dot at offset `at` joins the word before it with a letter or digit directly after it. */
function dotJoins(text: string, at: number): boolean {
  return text[at] === '.' && at + 1 < text.length && (classOf(text, at + 1) & (LOWER | UPPER | DIGIT)) !== 0
}

function isNumber(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += widthAt(text, at)) if (classOf(text, at) !== DIGIT) return false
  return true
}

/** Pattern of English endings after an apostrophe (as in `it's`, `don't`), which are not words of their own. */
const ENDING = /^['’](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])/iu

function afterEnding(text: string, start: number, end: number): number {
  if (text[end] !== "'" && text[end] !== '’') return end
  if (isNumber(text, start, end)) return end
  return end + (ENDING.exec(text.slice(end, end + 5))?.[0].length ?? 0)
}

function emit(text: string, start: number, end: number, alias: boolean, visit: TokenVisitor): void {
  emitTerm(text.slice(start, end), start, end, alias, visit)
}

function emitTerm(raw: string, start: number, end: number, alias: boolean, visit: TokenVisitor): void {
  const term = cut(fold(cut(raw)))
  if (term !== '') visit(term, start, end, alias)
}

function cut(term: string): string {
  return term.length <= MAX_TERM_LENGTH
    ? term
    : term
        .slice(0, MAX_TERM_LENGTH)
        .toWellFormed()
        .replace(/\ufffd$/, '')
}

// Finds the words within an identifier such as `parseQuery`, `parse_query`, `HTTPServer` or `0xD020`.

function isHex(text: string, start: number, end: number): boolean {
  return text[start] === '0' && /^0[xX][\da-fA-F]+$/.test(text.slice(start, end))
}

/**
 * Largest number of words into which an identifier is cut. An identifier with more words, or one that is longer than
 * `MAX_IDENTIFIER_LENGTH`, is taken for encoded data and stays whole.
 */
const MAX_WORDS_IN_IDENTIFIER = 12
const MAX_IDENTIFIER_LENGTH = 80

/**
 * Start and end offsets of the words within an identifier, in one flat list: start of the first word, its end, start of the second, and so
 * on.
 */
function cutsOf(text: string, start: number, end: number): number[] {
  const cuts: number[] = []
  let from = -1
  let before = SEPARATOR
  for (let at = start; at < end; at += widthAt(text, at)) {
    const kind = classOf(text, at)
    if (kind === UNDERSCORE) {
      if (from >= 0) cuts.push(from, at)
      from = -1
    } else if (from < 0) {
      from = at
    } else if (kind === UPPER && (before !== UPPER || beginsWord(text, at, end))) {
      cuts.push(from, at)
      from = at
    }
    if (kind !== MARK && kind !== IGNORED) before = kind
  }
  if (from >= 0) cuts.push(from, end)
  const tooMany = cuts.length > 2 * MAX_WORDS_IN_IDENTIFIER || end - start > MAX_IDENTIFIER_LENGTH
  return tooMany ? [start, end] : cuts
}

/**
 * Whether the capital letter at offset `at`, which follows other capitals, begins a word: the S of `HTTPServer` does, the L of `URLs` does
 * not.
 */
function beginsWord(text: string, at: number, end: number): boolean {
  const next = at + widthAt(text, at)
  if (next >= end || classOf(text, next) !== LOWER) return false
  const isPlural = text[next] === 's' && (next + 1 >= end || (classOf(text, next + 1) & (LOWER | MARK)) === 0)
  return !isPlural
}

/** The whole identifier as one term: `parseQuery`, `parse_query` and `parse.query` give one spelling; dots between digits are kept. */
function joinedTerm(text: string): string {
  return text.replaceAll(/_|(?<!\p{Nd})\.|\.(?!\p{Nd})/gu, '')
}
