/** Numbers the lines of any place in a text, in any order; lines end as in `text/lines.ts`. */
const LF = 10
const CR = 13

export class LineStarts {
  readonly #starts: readonly number[]

  constructor(text: string) {
    const starts = [0]
    if (text.includes('\r')) {
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        if (unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)) starts.push(at + 1)
      }
    } else {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    }
    this.#starts = starts
  }

  /** From 1. */
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
}
