/**
 * Cuts a question into tokens: words, "phrases", +/- signs, field conditions, boosts. One pass, linear, no regular
 * expression over the text. Signs count only at the start of a token, so hyphenated words, arithmetic and most code stay
 * plain text. Which names are fields is the caller's to say; a lens without fields says none.
 */
import { QuerentError } from '../model/errors.ts'
import type { FieldOperand, FieldOperator, FieldToken, QueryToken, Sign, Span } from '../model/plan.ts'
import { isBlank } from './characters.ts'

export interface LexerOptions {
  /** Whether `name:` begins a condition. Absent: nothing does. */
  readonly isField?: ((name: string) => boolean) | undefined
}

export type SyntaxReason =
  | 'unterminated_quote'
  | 'empty_phrase'
  | 'unterminated_list'
  | 'empty_list'
  | 'empty_value'
  | 'boost_out_of_range'
  | 'boost_on_exclusion'
  | 'only_exclusions'
  | 'invalid_value'

/** Highest boost; 0 itself is no boost. */
export const MAX_BOOST = 10

/** Tokens in order. Throws `query_syntax`; `details` are reason, position, length and hint. */
export function lexQuery(text: string, options: LexerOptions = {}): readonly QueryToken[] {
  const reader = new Reader(text)
  const tokens: QueryToken[] = []
  for (;;) {
    reader.skipBlanks()
    if (reader.done) return tokens
    tokens.push(readToken(reader, options))
    const last = tokens[tokens.length - 1] as QueryToken
    if (reader.done || reader.atBlank || last.kind === 'word') continue
    tokens.push(readGlued(reader))
  }
}

export function querySyntax(reason: SyntaxReason, at: Span, message: string, hint: string): QuerentError {
  const where = `${message} (at position ${at.position})`
  return new QuerentError('query_syntax', `${where}. ${hint}`, {
    reason,
    position: at.position,
    length: at.length,
    hint,
  })
}

/** A copy of the text that reads alike: unpaired surrogates replaced, control characters made blanks, length kept. */
export function cleanText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

function readToken(reader: Reader, options: LexerOptions): QueryToken {
  const position = reader.at
  const sign = readSign(reader)
  if (reader.peek() === '"') return readPhrase(reader, position, sign)
  const field = readField(reader, position, sign, options)
  return field ?? readWord(reader, position, sign)
}

/** A sign counts before a quote, or before something with a letter or digit that is no second sign (`--flag`, `->`). */
function readSign(reader: Reader): Sign {
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

/** Whether there is a letter or digit in it, a boost apart. */
function isSearchable(operand: string): boolean {
  return /[\p{L}\p{N}]/u.test(operand.replace(/\^[\d.]*$/, ''))
}

function readPhrase(reader: Reader, position: number, sign: Sign): QueryToken {
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

/** The text between two quotes; the reader stands on the first, and then behind the second. */
function readQuoted(reader: Reader, position: number): string {
  const opening = reader.at
  reader.at++
  let text = ''
  while (!reader.done) {
    const char = reader.next()
    if (char === '"') return text
    text += char === '\\' && !reader.done ? reader.next() : char
  }
  throw querySyntax(
    'unterminated_quote',
    { position: opening, length: 1 },
    `the quote${position === opening ? '' : ' of this condition'} is never closed`,
    'Close it, or write \\" for a quote that is text.',
  )
}

/** `^number` up to the end of the token, else nothing: the caret is text then. */
function readTrailingBoost(reader: Reader): number | null {
  const boost = parseBoost(reader.untilBlank(1))
  if (boost !== null) reader.skipToken()
  return boost
}

function readWord(reader: Reader, position: number, sign: Sign): QueryToken {
  let text = ''
  /** Length of `text` before the last unescaped caret, and where the number after it begins. */
  let caret = -1
  let number = -1
  while (!reader.done && !reader.atBlank) {
    const char = reader.next()
    if (char === '^' && text !== '') {
      caret = text.length
      number = reader.at
    }
    text += char === '\\' && !reader.done ? reader.next() : char
  }
  const boost = caret < 0 ? null : parseBoost(reader.text.slice(number, reader.at))
  const span = { position, length: reader.at - position }
  const literal = boost === null ? text : text.slice(0, caret)
  return { kind: 'word', sign, text: literal, boost: checkBoost(boost, sign, span), glued: false, ...span }
}

/** Whatever follows a closing quote or parenthesis up to the next blank is plain text, signs and carets included. */
function readGlued(reader: Reader): QueryToken {
  const position = reader.at
  const text = reader.literalUntil(char => isBlank(char))
  return { kind: 'word', sign: null, text, boost: 1, glued: true, position, length: reader.at - position }
}

function readField(reader: Reader, position: number, sign: Sign, options: LexerOptions): FieldToken | null {
  const name = options.isField === undefined ? null : reader.nameBeforeColon()
  if (name === null || options.isField?.(name) !== true) return null
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

function readOperator(reader: Reader): FieldOperator {
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

function readOperands(reader: Reader, operator: FieldOperator, position: number): readonly FieldOperand[] {
  if (operator === ':*') return []
  if (operator === ':()') return readList(reader)
  return [readOperand(reader, position, isBlank)]
}

function readList(reader: Reader): readonly FieldOperand[] {
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

function readOperand(reader: Reader, start: number, ends: (char: string) => boolean): FieldOperand {
  const position = reader.at
  const quoted = reader.peek() === '"'
  const text = quoted ? readQuoted(reader, start) : reader.literalUntil(ends)
  if (text !== '') return { text, quoted, position, length: reader.at - position }
  const at = { position: start, length: reader.at - start }
  throw querySyntax('empty_value', at, 'the value is empty', 'Give a value, or write \\: for a colon that is text.')
}

/** Digits, with at most one point between or before them. Not a sign, not an exponent. */
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

/** A place in the text that moves forward. */
class Reader {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
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

  skipBlanks(): void {
    while (!this.done && this.atBlank) this.at++
  }

  skipToken(): void {
    while (!this.done && !this.atBlank) this.at++
  }

  /** What stands from `ahead` to the next blank, escapes as typed. */
  untilBlank(ahead: number): string {
    let end = this.at + ahead
    while (end < this.text.length && !isBlank(this.text.charAt(end))) end++
    return this.text.slice(this.at + ahead, end)
  }

  /** Reads up to the first unescaped character that ends it; escapes are resolved. */
  literalUntil(ends: (char: string) => boolean): string {
    let text = ''
    while (!this.done && !ends(this.peek())) {
      const char = this.next()
      text += char === '\\' && !this.done ? this.next() : char
    }
    return text
  }

  /** The name that ends at the next colon of this token, or null. Names have no blank, quote, backslash or slash. */
  nameBeforeColon(): string | null {
    let end = this.at
    while (end < this.text.length && /[\p{L}\p{N}_.$-]/u.test(this.text.charAt(end))) end++
    return end > this.at && this.text.charAt(end) === ':' ? this.text.slice(this.at, end) : null
  }
}
