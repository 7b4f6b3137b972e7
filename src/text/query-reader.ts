/** A place in a question that moves forward, and what can be read from there. Every step is linear in what it reads. */
import { querySyntax } from './query-syntax.ts'

export class QueryReader {
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

  /** The text between the quote that stands `ahead` and its end, or null where it has none. Nothing is read. */
  quotedAfter(ahead: number): string | null {
    const inner = new QueryReader(this.text)
    inner.at = this.at + ahead + 1
    const text = inner.literalUntil(char => char === '"')
    return inner.done ? null : text
  }

  /** The name that ends at the next colon of this token, or null. Names have no blank, quote, backslash or slash. */
  nameBeforeColon(): string | null {
    let end = this.at
    while (end < this.text.length && /[\p{L}\p{N}_.$-]/u.test(this.text.charAt(end))) end++
    return end > this.at && this.text.charAt(end) === ':' ? this.text.slice(this.at, end) : null
  }
}

/** The text between two quotes; the reader stands on the first, and then behind the second. */
export function readQuoted(reader: QueryReader, position: number): string {
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

const BLANK = /^\s$/

/** Any white space of Unicode: blanks, tabs, line breaks. */
export function isBlank(char: string): boolean {
  return char === ' ' || (char !== '' && BLANK.test(char))
}
