/**
 * The smallest pieces of a text between which it may be cut: a word, a sign, or a character of a script without spaces, each with the
 * blanks after it. For each piece, its cost in tokens of an embedding model, and how suitable the border before it is for a cut.
 */
import { classOf, DIGIT, IGNORED, LOWER, MARK, UNSPACED, UPPER, widthAt } from './character-class.ts'
import { isLineEnd } from './lines.ts'

export type TextForm = 'prose' | 'code'

/**
 * Kinds of borders between pieces of a text, as numbers: a cut at a higher one separates less that belongs together, from `word` up to a
 * new section or place mark (such as a page). `torn`: no cut is permitted.
 */
export const BORDER = {
  ...{ torn: -1, inside: 0, word: 1, line: 2, sentence: 3, item: 4, paragraph: 5, section: 6, place: 7 },
} as const
export type Border = (typeof BORDER)[keyof typeof BORDER]

/**
 * Longest runs of characters that are one piece, in UTF-16 units: of word characters (`MAX_WORD`), of one repeated sign (`MAX_SIGNS`), of
 * blanks (`MAX_BLANKS`). Longer runs, such as encoded data, are cut at this length.
 */
const MAX_WORD = 32
const MAX_SIGNS = 8
const MAX_BLANKS = 256

export interface Piece {
  /** Offset of the end of the piece, where the next piece begins. */
  readonly end: number
  /** Estimated number of tokens of the piece in an embedding model. */
  readonly tokens: number
  /** Offset after the last non-blank character of the piece; `start` when the piece consists of blanks. */
  readonly textEnd: number
}

/**
 * The piece of the text that begins at offset `start`. It includes the blanks after it up to their last line end; the indentation after
 * that belongs to the next piece. It never ends inside a surrogate pair.
 */
export function pieceAt(text: string, start: number): Piece {
  const from = afterBlanks(text, start)
  if (from >= text.length || from - start >= MAX_BLANKS) return { end: from, tokens: 1, textEnd: start }
  const textEnd = runEnd(text, from)
  return { end: afterLineEnd(text, textEnd), tokens: tokensOf(text, from, textEnd), textEnd }
}

/**
 * How suitable a cut before offset `next` is, judged by the text on both sides; headings and blocks are not considered. `textEnd`: end of
 * the last non-blank text before `next`.
 */
export function borderBetween(text: string, textEnd: number, next: number, form: TextForm): Border {
  const first = afterBlanks(text, next)
  if (first === textEnd) return isSentenceSign(text, textEnd - 1) ? BORDER.sentence : BORDER.inside
  const breaks = lineBreaks(text, textEnd, next)
  if (form === 'code') return codeBorder(text, breaks, next, first)
  if (breaks > 1) return BORDER.paragraph
  if (breaks === 1 && ITEM.test(text.slice(first, first + 8))) return BORDER.item
  if (endsSentence(text, textEnd) && !isLower(text, first)) return BORDER.sentence
  return breaks === 1 ? BORDER.line : BORDER.word
}

/** Pattern of a list mark, table row or quotation at the start of a line. */
const ITEM = /^([-*+•|>]|\d{1,4}[.)]|[a-z][.)])\s?/

/**
 * How suitable a cut between two pieces of code is: a line without indentation begins something new, unless it begins with a closing
 * bracket.
 */
function codeBorder(text: string, breaks: number, next: number, first: number): Border {
  if (breaks === 0) return BORDER.word
  const atMargin = next === first && !/[)\]}]/.test(text.charAt(first))
  if (breaks > 1) return atMargin ? BORDER.paragraph : BORDER.item
  return atMargin ? BORDER.sentence : BORDER.line
}

/** Number of line breaks in the blanks between two offsets: 0, 1, or 2 for more. */
function lineBreaks(text: string, from: number, to: number): number {
  let breaks = 0
  for (let at = from; at < to && breaks < 2; at++) if (isLineEnd(text, at)) breaks++
  return breaks
}

function endsSentence(text: string, textEnd: number): boolean {
  let at = textEnd - 1
  while (at > textEnd - 4 && CLOSERS.includes(text.charAt(at))) at--
  return at >= 0 && ENDS.includes(text.charAt(at))
}

const CLOSERS = ')]"\'”’»'
const ENDS = '.!?…。！？'

/** Whether the character is a full-width mark that ends a sentence; those of Chinese and Japanese need no blank after them. */
function isSentenceSign(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === 0x3002 || unit === 0xff01 || unit === 0xff1f
}

function isLower(text: string, at: number): boolean {
  return at < text.length && classOf(text, at) === LOWER
}

function afterBlanks(text: string, start: number): number {
  let at = start
  while (at < text.length && at - start < MAX_BLANKS && isBlankUnit(text.charCodeAt(at))) at++
  return at
}

/** Offset after the last line end among the blanks that begin at `from`; where there is no line end, the offset after all of the blanks. */
function afterLineEnd(text: string, from: number): number {
  const end = afterBlanks(text, from)
  for (let at = end; at > from; at--) if (isLineEnd(text, at - 1)) return at
  return end
}

const WORD = LOWER | UPPER | DIGIT | MARK | IGNORED

function runEnd(text: string, start: number): number {
  const kind = classOf(text, start)
  let at = start + widthAt(text, start)
  if (kind === UNSPACED) return at
  if ((kind & WORD) !== 0) {
    while (at < text.length && at - start < MAX_WORD && (classOf(text, at) & WORD) !== 0) at += widthAt(text, at)
    return at
  }
  const sign = text.charCodeAt(start)
  if (at > start + 1) return at
  while (at - start < MAX_SIGNS && text.charCodeAt(at) === sign) at++
  return at
}

export function isBlankUnit(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 9 && unit <= 13)
  if (unit < 0xa0) return false
  return (
    unit === 0xa0 ||
    unit === 0x3000 ||
    unit === 0xfeff ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029
  )
}

/** UTF-16 code of the first Greek letter; all Latin letters have lower codes. */
const FIRST_GREEK = 0x370

/**
 * Estimated number of tokens of a piece, from its length and kind of characters. It approximates WordPiece with an English vocabulary
 * (median of estimate divided by true number: English prose 1.1, Markdown 1.0, TypeScript 0.97, Spanish 0.7; for other alphabets, it is
 * midway between an English and a multilingual vocabulary).
 */
function tokensOf(text: string, start: number, end: number): number {
  const kind = classOf(text, start)
  const length = end - start
  if (kind === UNSPACED) return 1
  if (kind === DIGIT) return Math.ceil(length / 3)
  if ((kind & WORD) === 0) return length
  if (text.charCodeAt(start) >= FIRST_GREEK) return Math.ceil(length / 3)
  if (length > 16) return Math.ceil(length / 3)
  return length <= 7 ? 1 : Math.ceil((length - 2) / 4)
}
