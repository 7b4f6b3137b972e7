/**
 * Builds the text of a page from its parts: runs of blanks become one blank, line breaks are written only when text follows, and headings
 * are recorded.
 */
import { type Block, MAX_LEAD } from './blocks.ts'
import type { Heading, PlaceMark } from './outline.ts'

/**
 * An HTML block (such as a table or list item) to which text is still being added. `start`: offset of its first word, or -1 while it has
 * none. `lead`: its header, which is repeated where the block is cut; null while none was found.
 */
interface OpenBlock {
  start: number
  readonly isTable: boolean
  readonly isProse: boolean
  header: string[]
  lead: string | null
  /** Whether a table contains headings or another table, so that it only serves for the layout of the page. */
  isFrame: boolean
}

export interface WrittenText {
  readonly text: string
  readonly headings: readonly Heading[]
  readonly blocks: readonly Block[]
  readonly places: readonly PlaceMark[]
}

const BULLET = '- '

export class TextWriter {
  /** Number of open `<pre>` elements around the text; above 0, blanks are kept as they are. */
  verbatim = 0
  readonly #parts: string[] = []
  readonly #headings: Heading[] = []
  readonly #places: PlaceMark[] = []
  readonly #blocks: (Omit<Block, 'from' | 'until'> & { readonly index: number })[] = []
  readonly #open: OpenBlock[] = []
  #length = 0
  #breaks = 0
  #blank = false
  #bullet = false
  /** The heading to which text is being added; null: none. Its `start` is the offset of its first word, or -1 while it has no text. */
  #heading: { start: number; text: string } | null = null
  /** Text of the place mark (such as a page number) that begins with the next text; null: none. */
  #place: string | null = null

  /** Length of the text built so far, in UTF-16 units. */
  get length(): number {
    return this.#length
  }

  text(raw: string): void {
    if (this.verbatim > 0) {
      this.#put(raw.replace(/\r\n?/g, '\n'))
      return
    }
    const words = raw.replace(/[ \t\r\n\f]+/g, ' ')
    if (words.startsWith(' ')) this.#blank = true
    this.#put(words.trim())
    if (words.endsWith(' ')) this.#blank = true
  }

  /** Requests a blank before the next text; it is not written where the next text begins a line. */
  blank(): void {
    this.#blank = true
  }

  /** Requests a list mark before the next text. */
  bullet(): void {
    this.#bullet = true
  }

  /** Requests at least this many line ends before the next text; none are written before the first text. */
  breakLines(count: number): void {
    this.#breaks = Math.max(this.#breaks, count)
  }

  /** Requests one more line end before the next text, up to two. */
  newLine(): void {
    this.#breaks = Math.min(2, this.#breaks + 1)
  }

  /** Sets the place mark of the following text: a page, a cell. A place without text is not recorded. */
  place(text: string): void {
    this.#place = text
  }

  beginBlock(kind: 'table' | 'verbatim' | 'prose'): void {
    const isTable = kind === 'table'
    if (isTable) for (const block of this.#open) block.isFrame = true
    this.#open.push({ start: -1, isTable, isProse: kind === 'prose', header: [], lead: null, isFrame: false })
  }

  /** Ends the first row of the innermost open table. `isHeader`: whether the row is a header that names the table's columns. */
  endHeader(isHeader: boolean): void {
    const table = this.#open.findLast(({ isTable }) => isTable)
    if (table === undefined || table.header.length === 0) return
    table.lead ??= isHeader ? table.header.join('').slice(0, MAX_LEAD).toWellFormed() : ''
  }

  endBlock(): void {
    const block = this.#open.pop()
    if (block === undefined || block.start < 0 || block.isFrame) return
    const { start, lead, isProse } = block
    this.#blocks.push({ start, end: this.#length, lead: lead ?? '', isProse, index: this.#blocks.length })
  }

  beginHeading(): void {
    for (const block of this.#open) block.isFrame = true
    this.#heading = { start: -1, text: '' }
  }

  endHeading(level: number): void {
    const heading = this.#heading
    this.#heading = null
    if (heading === null || heading.start < 0) return
    const text = heading.text.replace(/\s+/g, ' ').trim()
    this.#headings.push({ start: heading.start, end: this.#length, level, text })
  }

  finish(): WrittenText {
    const text = this.#parts.join('')
    const lineAfter = (at: number): number => text.indexOf('\n', at) + 1 || text.length
    const blocks = this.#blocks
      .toSorted((a, b) => a.start - b.start || b.end - a.end || b.index - a.index)
      .map(({ start, end, lead, isProse }): Block => {
        const from = lineAfter(lead === '' ? start : lineAfter(start + lead.length))
        return { start, end, from, until: end, lead, isProse }
      })
    return { text, headings: this.#headings, blocks, places: this.#places }
  }

  #put(text: string): void {
    if (text === '') return
    const gap = this.#gap()
    if (this.#heading !== null) {
      if (this.#heading.start < 0) this.#heading.start = this.#length + gap.length
      this.#heading.text += ` ${text}`.slice(gap === '' ? 1 : 0)
    }
    const start = this.#length + gap.length - (gap.endsWith(BULLET) ? BULLET.length : 0)
    if (this.#place !== null) {
      this.#places.push({ at: start, text: this.#place })
      this.#place = null
    }
    for (const block of this.#open) {
      if (block.start < 0) block.start = start
      if (block.isTable && block.lead === null) block.header.push(block.header.length === 0 ? text : gap + text)
    }
    this.#parts.push(gap, text)
    this.#length += gap.length + text.length
  }

  /** The line ends, blank and list mark to write before the next text. */
  #gap(): string {
    const breaks = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#blank ? ' ' : ''
    const gap = (this.#length === 0 ? '' : breaks) + (this.#bullet ? BULLET : '')
    this.#breaks = 0
    this.#blank = false
    this.#bullet = false
    return gap
  }
}
