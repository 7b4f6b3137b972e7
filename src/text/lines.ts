/** Lines of a text, counted from 1. A line ends with LF, CR LF or a lone CR, which belong to the line that they end. */

const LF = 10
const CR = 13

/** Whether a line ends with the character at offset `at`; of CR LF, the LF ends it. */
export function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)
}

/** Number of line ends in the range from `from` to `to` (excluded). */
export function lineEnds(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (isLineEnd(text, at)) count++
  return count
}

/** Finds the line numbers of offsets that are requested in ascending order, reading the text only once. */
export class LineCounter {
  readonly #text: string
  #at = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  /** Number of the line with the character at offset `at`, which must not be before the previously requested offset. */
  lineOf(at: number): number {
    this.#line += lineEnds(this.#text, this.#at, at)
    this.#at = at
    return this.#line
  }
}

/** Numbers of the lines with the first and last character of a range; an empty range is in the line of its offset. */
export function linesOfSpan(
  counter: LineCounter,
  text: string,
  start: number,
  end: number,
): { readonly startLine: number; readonly endLine: number } {
  const startLine = counter.lineOf(start)
  return { startLine, endLine: startLine + lineEnds(text, start, Math.max(start, end - 1)) }
}

/** Finds line numbers by offset, and texts of lines by number, in any order. */
export class LineStarts {
  readonly #text: string
  readonly #starts: readonly number[]

  constructor(text: string) {
    this.#text = text
    this.#starts = lineStarts(text)
  }

  /** Number of lines in the text, at least 1. */
  get count(): number {
    return this.#starts.length
  }

  /** Number of the line with the character at offset `at`. */
  lineOf(at: number): number {
    let low = 0
    let high = this.#starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The text from the line `first` to the line `last`, as far as they exist; without the last LF or lone CR. */
  between(first: number, last: number): string {
    const start = this.#starts[first - 1]
    if (start === undefined || last < first) return ''
    const next = this.#starts[last]
    return this.#text.slice(start, next === undefined ? undefined : next - 1)
  }
}

/** Offsets where each line of the text starts; the first is 0. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  if (text.includes('\r')) {
    for (let at = 0; at < text.length; at++) if (isLineEnd(text, at)) starts.push(at + 1)
  } else {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  }
  return starts
}
