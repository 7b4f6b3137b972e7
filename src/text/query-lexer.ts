/**
 * Splits a query into tokens: words, "phrases", +/- signs, field conditions, boosts. One pass in linear time, without a regular expression
 * over the text. Signs count only at the start of a token, so hyphenated words, arithmetic and most code remain plain text. The caller says
 * which names are fields; a lens without fields names none.
 */
import { QuerentError } from '../model/errors.ts'
import type { FieldOperand, FieldOperator, FieldToken, QueryToken, Sign, Span } from '../model/plan.ts'

export interface LexerOptions {
  /** Whether `name:` begins a field condition. Absent: no name does. */
  readonly isField?: ((name: string) => boolean) | undefined
  /**
   * For lenient syntax: called for each part that cannot be read, which then becomes text up to the next blank. Absent: an error is thrown
   * instead.
   */
  readonly forgive?: ((at: Span, error: QuerentError) => void) | undefined
}

/** Highest boost that a query may give to a word (`word^10`); the lowest must be above 0. */
const MAX_BOOST = 10

/**
 * Splits a query that was cleaned by `cleanText` into tokens, in order. Throws `query_syntax`, with reason, position, length and hint in
 * its `details`.
 */
export function lexQuery(text: string, options: LexerOptions = {}): readonly QueryToken[] {
  const reader = new QueryReader(text, options.forgive !== undefined)
  const tokens: QueryToken[] = []
  for (;;) {
    reader.skipBlanks()
    if (reader.done) return tokens
    tokens.push(readTokenOrText(reader, options))
    const last = tokens[tokens.length - 1] as QueryToken
    if (reader.done || reader.atBlank || last.kind === 'word') continue
    tokens.push(readGlued(reader))
  }
}

/** A copy of the query of equal length: unpaired surrogates are replaced, and control characters become blanks. */
export function cleanText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

function readTokenOrText(reader: QueryReader, options: LexerOptions): QueryToken {
  const { forgive } = options
  if (forgive === undefined) return readToken(reader, options)
  const position = reader.at
  try {
    return readToken(reader, options)
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'query_syntax') throw error
    reader.at = position
    const text = reader.literalUntil(isBlank)
    const span = { position, length: reader.at - position }
    forgive(span, error)
    return { kind: 'word', sign: null, text, boost: 1, glued: false, ...span }
  }
}

function readToken(reader: QueryReader, options: LexerOptions): QueryToken {
  const position = reader.at
  if (isSignOfNothing(reader)) return readSignOfNothing(reader, position)
  const sign = readSign(reader)
  if (reader.peek() === '"') return readPhrase(reader, position, sign)
  const field = options.isField === undefined ? null : readField(reader, position, sign, options.isField)
  return field ?? readWord(reader, position, sign)
}

/**
 * Whether the reader is at a sign with a quotation that contains no letter or digit, as `+"!!!"`: nothing can be searched by it, so it is
 * read as text.
 */
function isSignOfNothing(reader: QueryReader): boolean {
  const sign = reader.peek()
  if ((sign !== '+' && sign !== '-') || reader.peek(1) !== '"') return false
  const quoted = reader.quotedAfter(1)
  return quoted !== null && quoted.trim() !== '' && !/[\p{L}\p{N}]/u.test(quoted)
}

/** Reads a sign with a quotation that cannot be searched, up to the next blank, as a plain word, with the quotation as written. */
function readSignOfNothing(reader: QueryReader, position: number): QueryToken {
  const sign = reader.next()
  const quoted = collapse(readQuoted(reader, position))
  const boost = reader.peek() === '^' ? readTrailingBoost(reader) : null
  const glued = reader.literalUntil(char => isBlank(char))
  const span = { position, length: reader.at - position }
  const text = `${sign}"${quoted}"${glued}`
  return { kind: 'word', sign: null, text, boost: checkBoost(boost, null, span), glued: false, ...span }
}

/**
 * Reads the sign (+ or -) before a token; null: there is none. A sign counts before a quotation, and before text that contains a letter or
 * digit and does not begin with a second sign (as `--flag` and `->` do).
 */
function readSign(reader: QueryReader): Sign {
  const sign = reader.peek()
  if (sign !== '+' && sign !== '-') return null
  const next = reader.peek(1)
  if (next === '"') {
    reader.at++
    return sign
  }
  if (next === '+' || next === '-' || !isSearchable(reader.untilBlank(1))) return null
  reader.at++
  return sign
}

/** Whether the text contains a letter or digit besides a boost (`^2`) at its end. A caret after a backslash begins no boost. */
function isSearchable(operand: string): boolean {
  return /[\p{L}\p{N}]/u.test(operand.replace(/(?<!\\)((?:\\\\)*)\^[\d.]*$/, '$1'))
}

function readPhrase(reader: QueryReader, position: number, sign: Sign): QueryToken {
  const quoted = readQuoted(reader, position)
  const text = collapse(quoted)
  const boost = reader.peek() === '^' ? readTrailingBoost(reader) : null
  const span = { position, length: reader.at - position }
  if (text === '') {
    throw querySyntax(
      'empty_phrase',
      span,
      'the phrase is empty',
      'Put words between the quotes, or write \\" for a quote.',
    )
  }
  return { kind: 'phrase', sign, text, boost: checkBoost(boost, sign, span), ...span }
}

/**
 * Reads a boost `^number` if the rest of the token is one, and returns the number; otherwise reads nothing and returns null, so that the
 * caret is text.
 */
function readTrailingBoost(reader: QueryReader): number | null {
  const boost = parseBoost(reader.untilBlank(1))
  if (boost !== null) reader.skipToken()
  return boost
}

function readWord(reader: QueryReader, position: number, sign: Sign): QueryToken {
  let text = ''
  /**
   * `caret`: length of `text` before the last caret (`^`, the sign of a boost) that has no backslash before it. `number`: offset in the
   * query directly after that caret. Both are -1 before the first caret.
   */
  let caret = -1
  let number = -1
  while (!reader.done && !reader.atBlank) {
    const { char, isPlain } = reader.nextLiteral()
    if (char === '^' && !isPlain && text !== '') {
      caret = text.length
      number = reader.at
    }
    text += char
  }
  const boost = caret < 0 ? null : parseBoost(reader.text.slice(number, reader.at))
  const span = { position, length: reader.at - position }
  const literal = boost === null ? text : text.slice(0, caret)
  return { kind: 'word', sign, text: literal, boost: checkBoost(boost, sign, span), glued: false, ...span }
}

/** Reads the text directly after a closing quote or parenthesis, up to the next blank, as a plain word; signs and carets in it are text. */
function readGlued(reader: QueryReader): QueryToken {
  const position = reader.at
  const text = reader.literalUntil(char => isBlank(char))
  return { kind: 'word', sign: null, text, boost: 1, glued: true, position, length: reader.at - position }
}

/**
 * Parses the number of a boost (the weight in `word^2`): digits with at most one decimal point, without a sign or exponent; null for other
 * texts.
 */
function parseBoost(text: string): number | null {
  return /^(\d+(\.\d+)?|\.\d+)$/.test(text) ? Number(text) : null
}

function checkBoost(boost: number | null, sign: Sign, at: Span): number {
  if (boost === null) return 1
  const hint = 'Write \\^ for a caret that is text.'
  if (sign === '-') throw querySyntax('boost_on_exclusion', at, 'what is shut out cannot have a boost', hint)
  if (boost > 0 && boost <= MAX_BOOST) return boost
  throw querySyntax('boost_out_of_range', at, `a boost is above 0 and at most ${MAX_BOOST}`, hint)
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

// Field conditions of a query: `name:value`, with a comparison sign, a list of values or quotes.

/**
 * Reads a field condition. Returns null, and leaves the reader where it was, when no condition begins there. `position`: offset where the
 * token begins, including its sign.
 */
function readField(
  reader: QueryReader,
  position: number,
  sign: Sign,
  isField: (name: string) => boolean,
): FieldToken | null {
  const name = reader.nameBeforeColon()
  if (name === null || !isField(name)) return null
  const start = reader.at
  reader.at += name.length + 1
  const scope = reader.peek() === ':'
  const operator = readOperator(reader)
  if (scope || (operator !== ':*' && (reader.done || reader.atBlank))) {
    reader.at = start
    return null
  }
  const operands = readOperands(reader, operator, position)
  return { kind: 'field', sign, name, operator, operands, position, length: reader.at - position }
}

const COMPARISONS: readonly FieldOperator[] = [':<=', ':>=', ':<', ':>', ':=', ':~']

function readOperator(reader: QueryReader): FieldOperator {
  if (reader.peek() === '(') return ':()'
  if (reader.untilBlank(0) === '*') {
    reader.at++
    return ':*'
  }
  for (const operator of COMPARISONS) {
    if (!reader.text.startsWith(operator.slice(1), reader.at)) continue
    reader.at += operator.length - 1
    return operator
  }
  return ':'
}

function readOperands(reader: QueryReader, operator: FieldOperator, position: number): readonly FieldOperand[] {
  if (operator === ':*') return []
  if (operator === ':()') return readList(reader)
  return [readOperand(reader, position, isBlank)]
}

function readList(reader: QueryReader): readonly FieldOperand[] {
  const opening = reader.at
  const operands: FieldOperand[] = []
  reader.at++
  for (;;) {
    reader.skipBlanks()
    if (reader.done) {
      const at = { position: opening, length: 1 }
      throw querySyntax('unterminated_list', at, 'the list is never closed', 'Close it with ), or write \\( for text.')
    }
    if (reader.peek() === ')') break
    operands.push(readOperand(reader, opening, char => char === ')' || isBlank(char)))
  }
  reader.at++
  if (operands.length > 0) return operands
  const at = { position: opening, length: reader.at - opening }
  throw querySyntax('empty_list', at, 'the list is empty', 'Put values between the parentheses.')
}

function readOperand(reader: QueryReader, start: number, ends: (char: string) => boolean): FieldOperand {
  const position = reader.at
  const quoted = reader.peek() === '"'
  const text = quoted ? readQuoted(reader, start) : reader.literalUntil(ends)
  if (text !== '') return { text, quoted, position, length: reader.at - position }
  const at = { position: start, length: reader.at - start }
  throw querySyntax('empty_value', at, 'the value is empty', 'Give a value, or write \\: for a colon that is text.')
}

// A reader of a query: an offset that moves forward, and functions that read from there. Each takes time linear in what it reads.

// Reasons why a query can be wrong in strict syntax, and how the error is made.

type SyntaxReason =
  | 'unterminated_quote'
  | 'empty_phrase'
  | 'unterminated_list'
  | 'empty_list'
  | 'empty_value'
  | 'boost_out_of_range'
  | 'boost_on_exclusion'
  | 'only_exclusions'
  | 'invalid_value'
  | 'lone_sign'
  | 'unknown_field'

/**
 * Makes the error for a wrong query. Its `details` contain the reason, the position and length of the wrong part within the text, and a
 * hint.
 */
export function querySyntax(reason: SyntaxReason, at: Span, message: string, hint: string): QuerentError {
  const where = `${message} (at position ${at.position})`
  return new QuerentError('query_syntax', `${where}. ${hint}`, {
    reason,
    position: at.position,
    length: at.length,
    hint,
  })
}

/**
 * Signs that a backslash turns into plain text in lenient syntax. Before other characters a backslash is text itself, so that paths and
 * regular expressions keep theirs.
 */
const RESERVED = '"\\+-^:()<>=~*'

class QueryReader {
  readonly text: string
  readonly #isLenient: boolean
  at = 0

  constructor(text: string, isLenient = false) {
    this.text = text
    this.#isLenient = isLenient
  }

  get done(): boolean {
    return this.at >= this.text.length
  }

  get atBlank(): boolean {
    return isBlank(this.peek())
  }

  peek(ahead = 0): string {
    return this.text.charAt(this.at + ahead)
  }

  next(): string {
    return this.text.charAt(this.at++)
  }

  /** Reads the next character, resolving an escape. `isPlain`: whether a backslash before the character removed its meaning as a sign. */
  nextLiteral(): { readonly char: string; readonly isPlain: boolean } {
    const char = this.next()
    const isEscape = char === '\\' && !this.done && (!this.#isLenient || RESERVED.includes(this.peek()))
    return isEscape ? { char: this.next(), isPlain: true } : { char, isPlain: false }
  }

  skipBlanks(): void {
    while (!this.done && this.atBlank) this.at++
  }

  skipToken(): void {
    while (!this.done && !this.atBlank) this.at++
  }

  /** The text from `ahead` characters after the reader's position to the next blank, with escapes as typed; the reader does not move. */
  untilBlank(ahead: number): string {
    let end = this.at + ahead
    while (end < this.text.length && !isBlank(this.text.charAt(end))) end++
    return this.text.slice(this.at + ahead, end)
  }

  /** Reads text up to the first unescaped character for which `ends` is true, which is not read; escapes are resolved. */
  literalUntil(ends: (char: string) => boolean): string {
    let text = ''
    while (!this.done && !ends(this.peek())) text += this.nextLiteral().char
    return text
  }

  /**
   * The text between a quote, `ahead` characters after the reader's position, and its closing quote; null where the quote is never closed.
   * The reader does not move.
   */
  quotedAfter(ahead: number): string | null {
    const inner = new QueryReader(this.text, this.#isLenient)
    inner.at = this.at + ahead + 1
    const text = inner.literalUntil(char => char === '"')
    return inner.done ? null : text
  }

  /** The name at the reader's position that is followed by a colon, or null. Names consist of letters, digits and `_.$-`. */
  nameBeforeColon(): string | null {
    let end = this.at
    while (end < this.text.length && /[\p{L}\p{N}_.$-]/u.test(this.text.charAt(end))) end++
    return end > this.at && this.text.charAt(end) === ':' ? this.text.slice(this.at, end) : null
  }
}

/** Reads a quotation and returns its text; moves the reader from the opening quote to the offset after the closing one. */
function readQuoted(reader: QueryReader, position: number): string {
  const opening = reader.at
  reader.at++
  let text = ''
  while (!reader.done) {
    const { char, isPlain } = reader.nextLiteral()
    if (char === '"' && !isPlain) return text
    text += char
  }
  throw querySyntax(
    'unterminated_quote',
    { position: opening, length: 1 },
    `the quote${position === opening ? '' : ' of this condition'} is never closed`,
    'Close it, or write \\" for a quote that is text.',
  )
}

const BLANK = /^\s$/

/** Whether a character is white space in Unicode, such as a blank, tab or line break. */
export function isBlank(char: string): boolean {
  return char === ' ' || (char !== '' && BLANK.test(char))
}
