/**
 * Places in a text where a reader can begin to read: at a sentence, paragraph, heading, list item, table row or line of code. They only
 * determine where an excerpt begins; so these rules can be improved without cutting or embedding passages again, as a change of the borders
 * in `piece.ts` would require.
 */
import { classOf, LOWER } from './character-class.ts'
import { isBlankUnit, type TextForm } from './piece.ts'

/** A non-blank line of the text: start and end offsets, without the blanks at both ends. */
interface Line {
  readonly start: number
  readonly end: number
  /** Indentation of the line in columns; a tab counts as 4. */
  readonly indent: number
  /** Whether the line is the first of the text or comes after a blank line. */
  readonly opensBlock: boolean
  /**
   * The paragraph (lines without a blank line between them) that contains the line: one object, which all of its lines share. `width`:
   * length of its longest line.
   */
  readonly block: { width: number }
}

/**
 * Offsets in the text where a reader can begin, ascending, never at a blank. The text's first character is included only if a rule makes it
 * a beginning, or if `isStart` is true (the text is not the rest of a longer line). Time is linear in the text.
 *
 * @example beginningsOf('Use a key, e.g. Ed25519. It is short.', 'prose', true) // [0, 25]
 */
export function beginningsOf(text: string, form: TextForm, isStart: boolean): readonly number[] {
  const lines = linesOf(text)
  const found: number[] = []
  const ends = sentenceEnds(text)
  let end = 0
  let isFenced = beginsInFence(text, lines)
  lines.forEach((line, at) => {
    const before = lines[at - 1]
    const isMark = fenceOf(text, line) !== null
    const isCode = form === 'code' || isFenced || isMark || isIndentedCode(text, line)
    if (before === undefined ? isStart : isCode || isBeginning(text, before, line)) found.push(line.start)
    if (isMark) isFenced = !isFenced
    else if (!isCode && text[line.start] !== '|')
      end = addSentences(text, line, ends, skipped(ends, end, line.start), found)
  })
  return found
}

function skipped(ends: readonly number[], from: number, start: number): number {
  let at = from
  while ((ends[at] ?? start) < start) at++
  return at
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  let block = { width: 0 }
  let isBlankBefore = true
  const lineEnd = /\r\n?|\n/g
  for (let at = 0; at < text.length; at = lineEnd.lastIndex) {
    const next = lineEnd.test(text) ? lineEnd.lastIndex : text.length
    let start = at
    let indent = 0
    for (; start < next && isBlankUnit(text.charCodeAt(start)); start++) indent += text[start] === '\t' ? 4 : 1
    let end = next
    while (end > start && isBlankUnit(text.charCodeAt(end - 1))) end--
    // The pattern's index is set explicitly at the end of the text, since a global pattern starts again at 0 when it finds nothing more.
    if (next === text.length) lineEnd.lastIndex = next
    if (end === start) {
      isBlankBefore = true
      continue
    }
    if (isBlankBefore) block = { width: 0 }
    block.width = Math.max(block.width, end - start)
    lines.push({ start, end, indent, opensBlock: isBlankBefore, block })
    isBlankBefore = false
  }
  return lines
}

/** The text after the fence on a line that opens or closes fenced code (the language, or empty); null for other lines. */
function fenceOf(text: string, { start, end }: Line): string | null {
  const sign = text.charAt(start)
  if ((sign !== '`' && sign !== '~') || !text.startsWith(sign.repeat(3), start)) return null
  let at = start
  while (text[at] === sign) at++
  return text.slice(at, end).trim()
}

/**
 * Whether a part of a longer text begins inside fenced code. This is so where its number of fences (lines of backticks or tildes) is odd
 * and its first fence names no language: that fence then closes code that was opened before.
 */
export function beginsInFence(text: string, lines: readonly Line[] = linesOf(text)): boolean {
  const fences = lines.map(line => fenceOf(text, line)).filter(fence => fence !== null)
  return fences.length % 2 === 1 && fences[0] === ''
}

const CODE_SIGN = /[=(){}<>;|$\\]/

function isIndentedCode(text: string, { start, end, indent }: Line): boolean {
  return indent >= 4 && CODE_SIGN.test(text.slice(start, Math.min(end, start + 200)))
}

/** Pattern of lines that begin a new item: list marks, table rows, quotations, headings. */
const MARKED = /^([-*+•][ \t]|[|>]|#{1,6}[ \t]|\d{1,4}[.)][ \t]|[a-z][.)][ \t])/
/** Pattern of lines that the next line does not continue: headings, table rows, horizontal rules. */
const ENDS_UNIT = /^(#{1,6}[ \t]|\||[-=*_+~]{3,}[ \t]*$)/

/** Whether a line begins something new, instead of continuing the line before it. */
function isBeginning(text: string, before: Line, line: Line): boolean {
  if (line.opensBlock) return true
  if (MARKED.test(text.slice(line.start, line.start + 8))) return true
  if (ENDS_UNIT.test(text.slice(before.start, Math.min(before.end, before.start + 80)))) return true
  if (!mayBeginSentence(text, line.start)) return false
  return endsSentence(text, before.end) || text[before.end - 1] === ':' || isBrokenByHand(text, before, line)
}

/**
 * Whether the author broke the line before on purpose: the first word of this line would have fitted into it, so it was not wrapped for its
 * length.
 */
function isBrokenByHand(text: string, before: Line, line: Line): boolean {
  let end = line.start
  while (end < line.end && !isBlankUnit(text.charCodeAt(end))) end++
  return before.end - before.start + 1 + end - line.start <= line.block.width
}

const SENTENCE_END = '.!?…'
/** Full-width punctuation marks that end a sentence without a blank after them. */
const FULL_WIDTH_END = '。！？'
const CLOSING = ')]"\'”’»*_`」』）'
const AFTER_END = SENTENCE_END + FULL_WIDTH_END + CLOSING
const OPENING = '("\'“‘«[¿¡*_`「『（'

function endsSentence(text: string, end: number): boolean {
  let at = end - 1
  while (at > end - 5 && CLOSING.includes(text.charAt(at))) at--
  return at >= 0 && (SENTENCE_END + FULL_WIDTH_END).includes(text.charAt(at))
}

function mayBeginSentence(text: string, at: number): boolean {
  let first = at
  while (first < at + 5 && first < text.length && OPENING.includes(text.charAt(first))) first++
  return first < text.length && classOf(text, first) !== LOWER
}

/**
 * Adds the beginnings of the sentences of a line to `found`. `ends`: offsets in the text of marks that may end a sentence, examined from
 * index `first` on. Returns the index of the first mark after the line.
 */
function addSentences(text: string, line: Line, ends: readonly number[], first: number, found: number[]): number {
  let index = first
  let next = line.start
  for (; (ends[index] ?? line.end) < line.end; index++) {
    const at = ends[index] as number
    if (at < next) continue
    next = at + 1
    while (next < line.end && AFTER_END.includes(text.charAt(next))) next++
    const closed = next
    while (next < line.end && isBlankUnit(text.charCodeAt(next))) next++
    if (next === line.end) continue
    const isFullWidth = FULL_WIDTH_END.includes(text.charAt(at))
    if (isFullWidth || (next > closed && mayBeginSentence(text, next) && !isAbbreviation(text, line, at, next)))
      found.push(next)
  }
  return index
}

function sentenceEnds(text: string): readonly number[] {
  const ends: number[] = []
  const sign = /[.!?…。！？]/g
  while (sign.test(text)) ends.push(sign.lastIndex - 1)
  return ends
}

/** Abbreviations that come before a name, so that their full stop ends no sentence. */
const TITLES = new Set('mr mrs ms dr prof st messrs sr sra dra ud uds vs cf al gen gov rev hon ca bzw mme'.split(' '))
/** Abbreviations that come before a number, so that their full stop ends no sentence where a digit follows. */
const COUNTED = new Set('no nos nr fig figs eq sec ch vol p pp art cap núm pág págs approx tab abb'.split(' '))
const LONGEST_ABBREVIATION = 8

/**
 * Whether the full stop at `at` belongs to an abbreviation, an initial, or the number of a heading or list item, instead of ending a
 * sentence.
 */
function isAbbreviation(text: string, line: Line, at: number, next: number): boolean {
  if (text[at] !== '.') return false
  let start = at
  while (start > line.start && at - start <= LONGEST_ABBREVIATION && isWordUnit(text.charCodeAt(start - 1))) start--
  const word = text.slice(start, at)
  if (/^\d+$/.test(word)) return /^[\d.#*\-> ]*$/.test(text.slice(line.start, Math.min(start, line.start + 80)))
  if (/^\p{Lu}$/u.test(word) || (word.length === 1 && text[start - 1] === '.')) return true
  const folded = word.toLowerCase()
  return TITLES.has(folded) || (COUNTED.has(folded) && /\d/.test(text.charAt(next)))
}

/** Whether a UTF-16 unit belongs to a word: ASCII letters and digits, and approximately those of other scripts. */
function isWordUnit(unit: number): boolean {
  const letter = unit | 0x20
  return (letter >= 0x61 && letter <= 0x7a) || (unit >= 0x30 && unit <= 0x39) || (unit >= 0xc0 && !isBlankUnit(unit))
}
