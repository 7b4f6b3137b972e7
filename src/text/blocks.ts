/**
 * Blocks of a text that a cut in the wrong place would spoil: fenced code, tables, list items, quotations. Determines where a chunk may end
 * within them, and which lines the part after a cut repeats so that it can be read alone.
 */
import { isLineEnd } from './lines.ts'
import { pieceAt } from './piece.ts'

export interface Block {
  /** Offset of the start of the block's first line; `end` is the offset after its last line. A block may lie within another one. */
  readonly start: number
  readonly end: number
  /**
   * First offset within the block where it may be cut. The first lines (such as a table's header), which are repeated after each cut, are
   * never cut from the line that follows them.
   */
  readonly from: number
  /** Offset from which on the block must not be cut: the line that closes a fence stays with the code before it. */
  readonly until: number
  /** Lines that every later part of the block repeats: the header of a table, the line that opens a fence. Empty: none. */
  readonly lead: string
  /**
   * Whether the block's lines are prose, so that a line longer than a chunk may be cut at sentences. Default false: rows of a table, or
   * code.
   */
  readonly isProse?: boolean | undefined
  /** Whether the block's lines are code, fenced or indented. Default false. */
  readonly isCode?: boolean | undefined
}

/** Longest text, in UTF-16 units, that later parts of a block repeat (its lead); the header of a wider table is cut to this length. */
export const MAX_LEAD = 1_000

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Decides where a text with blocks (such as tables or fenced code) may be cut. Each request takes few steps if offsets are requested in
 * approximately ascending order, as chunking does.
 */
export class BlockCuts {
  readonly #text: string
  readonly #blocks: readonly Block[]
  /** Size limit in tokens. A block with more tokens may be cut at its line ends, and a line with more tokens may be cut anywhere. */
  readonly #limit: number
  /** For each block, the index of the innermost block that contains it, or -1. */
  readonly #parents: readonly number[]
  readonly #isLong: (boolean | undefined)[] = []
  /** Lines within blocks that have more tokens than the limit, ascending, as far as they were examined. */
  readonly #longLines: Span[] = []
  /** Start offset of the last line whose length was examined; lines before it need not be examined again. */
  #noted = -1
  #last = -1
  /** `#outsideFrom`, `#outsideTo`: a range of offsets, both ends included, that is known to be outside every block. */
  #outsideFrom = 0
  #outsideTo = -1

  /** `blocks` must be in ascending order of `start`, and a block must come before those that it contains. */
  constructor(text: string, blocks: readonly Block[], limit: number) {
    this.#text = text
    this.#blocks = blocks
    this.#limit = limit
    this.#parents = parentsOf(blocks)
  }

  /**
   * What a cut at this offset of the text would do. `outside`: it cuts no block, or a long line of prose, which may be cut. `line`: it cuts
   * a block at a line end where that is permitted. `torn`: it cuts a block where that is not permitted.
   */
  at(place: number): 'outside' | 'line' | 'torn' {
    if (place >= this.#outsideFrom && place <= this.#outsideTo) return 'outside'
    let found: 'outside' | 'line' = 'outside'
    let isFree = true
    for (let index = this.#lastBefore(place); index >= 0; index = this.#parents[index] as number) {
      const block = this.#blocks[index] as Block
      if (place >= block.end) continue
      if (!this.#isLongBlock(index)) return 'torn'
      if (!this.#isAllowedIn(block, place)) return 'torn'
      isFree = false
      if (block.isProse !== true || this.#isLineStart(place)) found = 'line'
    }
    if (isFree) {
      this.#outsideFrom = place
      this.#outsideTo = this.#blocks[this.#lastBefore(place) + 1]?.start ?? Infinity
    }
    return found
  }

  /**
   * The lines that a chunk beginning at this offset must repeat: the lead of the innermost block around the offset that has one; empty:
   * none.
   */
  leadAt(place: number): string {
    for (let index = this.#lastBefore(place); index >= 0; index = this.#parents[index] as number) {
      const { end, lead } = this.#blocks[index] as Block
      if (place < end && lead !== '') return lead
    }
    return ''
  }

  /** Whether a block begins or ends at this offset, which makes it as good a place for a cut as one between two list items. */
  isEdge(place: number): boolean {
    const before = this.#lastBefore(place)
    if (this.#blocks[before + 1]?.start === place) return true
    for (let index = before; index >= 0; index = this.#parents[index] as number)
      if ((this.#blocks[index] as Block).end === place) return true
    return false
  }

  /** Number of tokens of a block that begins at this offset and is short enough to stay whole; 0 where there is none. */
  wholeFrom(place: number): number {
    for (let index = this.#lastBefore(place) + 1; this.#blocks[index]?.start === place; index++) {
      const { start, end } = this.#blocks[index] as Block
      if (!this.#isLongBlock(index)) return countTokens(this.#text.slice(start, end))
    }
    return 0
  }

  #isAllowedIn(block: Block, place: number): boolean {
    if (this.#isLineStart(place)) {
      this.#noteLine(place)
      return place >= block.from && place < block.until
    }
    this.#noteLine(block.start)
    return this.#isInLongLine(place)
  }

  #isLineStart(place: number): boolean {
    return place > 0 && isLineEnd(this.#text, place - 1)
  }

  #isLongBlock(index: number): boolean {
    const known = this.#isLong[index]
    if (known !== undefined) return known
    const { start, end } = this.#blocks[index] as Block
    const isLong = this.#exceeds(start, end)
    this.#isLong[index] = isLong
    return isLong
  }

  #noteLine(start: number): void {
    if (start <= this.#noted) return
    this.#noted = start
    const next = this.#text.indexOf('\n', start)
    const end = next < 0 ? this.#text.length : next
    if (this.#exceeds(start, end)) this.#longLines.push({ start, end })
  }

  /**
   * Whether a range of the text has more tokens than the limit. A text never has more tokens than UTF-16 units, so a short range need not
   * be counted.
   */
  #exceeds(start: number, end: number): boolean {
    return end - start > this.#limit && countTokens(this.#text.slice(start, end), this.#limit) > this.#limit
  }

  #isInLongLine(place: number): boolean {
    const line = this.#longLines.findLast(({ start }) => start <= place)
    return line !== undefined && place < line.end
  }

  /** Index of the last block that begins before the offset, or -1. */
  #lastBefore(place: number): number {
    let index = this.#last
    while (index >= 0 && (this.#blocks[index] as Block).start >= place) index--
    while ((this.#blocks[index + 1]?.start ?? Infinity) < place) index++
    this.#last = index
    return index
  }
}

function parentsOf(blocks: readonly Block[]): readonly number[] {
  const open: number[] = []
  return blocks.map(({ start, end }, index) => {
    while (open.length > 0 && (blocks[open.at(-1) as number] as Block).end <= start) open.pop()
    const parent = open.findLast(at => (blocks[at] as Block).end >= end) ?? -1
    open.push(index)
    return parent
  })
}

const FENCE = /^([ \t>]*)(`{3,}|~{3,}|-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\|={3,})/
const ORG = /^([ \t]*)#\+begin_(\w+)/i

/**
 * The line that closes a block which `lead` opens; empty where nothing need be closed, as after the header of a table.
 *
 * @example closingOf('> ```js') // '> ```'
 */
export function closingOf(lead: string): string {
  const [first = ''] = lead.split('\n', 1)
  const org = ORG.exec(first)
  if (org !== null) return `${org[1]}#+end_${org[2]}`
  const fence = FENCE.exec(first)
  return fence === null ? '' : `${fence[1]}${fence[2]}`
}

/**
 * The line with its list marks replaced by blanks: where a line within a list item is repeated in another chunk, it must not begin a new
 * item.
 */
export function unmarked(line: string): string {
  const marks = /^(?:[ \t>]*(?:[-+*]|\d{1,9}[.)])(?=[ \t]))*/.exec(line)?.[0] ?? ''
  return marks.replace(/[^\s>]/g, ' ') + line.slice(marks.length)
}

// Estimates how many tokens a text takes in the input of a language model, well enough to keep a limit.

/** Name of this way of counting tokens, reported together with numbers of tokens. */
export const TOKEN_COUNTER = 'querent-estimate'

/**
 * Estimated number of tokens of a text, counted like the size of chunks. Counting may stop above `enough`, so that a long text need not be
 * read to its end to know that it is too long.
 */
export function countTokens(text: string, enough: number = Number.POSITIVE_INFINITY): number {
  let tokens = 0
  for (let at = 0; at < text.length && tokens <= enough; ) {
    const piece = pieceAt(text, at)
    tokens += piece.tokens
    at = piece.end
  }
  return tokens
}
