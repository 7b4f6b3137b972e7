/** A place in a question that moves forward, and what can be read from there. Every step is linear in what it reads. */
import { querySyntax } from './query-syntax.ts'

/** Signs that a backslash makes plain in lenient syntax. Before anything else it is text: paths and patterns keep theirs. */
const RESERVED = '"\\+-^:()<>=~*'

export class QueryReader {
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

  /** The next character as meant; `isPlain`: a backslash before it took its meaning as a sign. */
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

  /** What is from `ahead` to the next blank, escapes as typed. */
  untilBlank(ahead: number): string {
    let end = this.at + ahead
    while (end < this.text.length && !isBlank(this.text.charAt(end))) end++
    return this.text.slice(this.at + ahead, end)
  }

  /** Reads up to the first unescaped character that ends it; escapes are resolved. */
  literalUntil(ends: (char: string) => boolean): string {
    let text = ''
    while (!this.done && !ends(this.peek())) text += this.nextLiteral().char
    return text
  }

  /** The text between the quote that is `ahead` and its end, or null where it has none. Nothing is read. */
  quotedAfter(ahead: number): string | null {
    const inner = new QueryReader(this.text, this.#isLenient)
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

/** The text between two quotes; the reader is on the first, and then behind the second. */
export function readQuoted(reader: QueryReader, position: number): string {
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

/** Any white space of Unicode: blanks, tabs, line breaks. */
export function isBlank(char: string): boolean {
  return char === ' ' || (char !== '' && BLANK.test(char))
}
