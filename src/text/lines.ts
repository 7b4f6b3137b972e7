/** Lines of a text, counted from 1. A line ends with LF, CR LF or a lone CR; the ending belongs to the line it ends. */

const LF = 10
const CR = 13

/** Lines that end within `[from, to)`. */
export function lineEnds(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)) count++
  }
  return count
}

/** Numbers the lines of places that come in ascending order: the whole text is read once. */
export class LineCounter {
  readonly #text: string
  #at = 0
  #line = 1

  /** Counting begins at `at`, which is in line `line`. */
  constructor(text: string, at = 0, line = 1) {
    this.#text = text
    this.#at = at
    this.#line = line
  }

  /** The line of the character at `at`, which must not lie before the place asked for last. */
  lineOf(at: number): number {
    this.#line += lineEnds(this.#text, this.#at, at)
    this.#at = at
    return this.#line
  }
}

/** The lines of a span's first and last character; an empty span is in the line where it stands. */
export function linesOfSpan(
  counter: LineCounter,
  text: string,
  start: number,
  end: number,
): { readonly startLine: number; readonly endLine: number } {
  const startLine = counter.lineOf(start)
  return { startLine, endLine: startLine + lineEnds(text, start, Math.max(start, end - 1)) }
}
