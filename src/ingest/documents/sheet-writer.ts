/**
 * Writes the sheets of a workbook as text: the name of a sheet as a heading, then one line per row. The first row of a sheet is its header,
 * which each later chunk of the sheet repeats.
 */

import { storableText } from '../../base/storable.ts'
import { MAX_LEAD } from '../../text/blocks.ts'
import type { WrittenText } from '../../text/text-writer.ts'
import { checkLength } from './document.ts'

const CELLS = ' | '
/**
 * Number of UTF-16 units of rows that share one place mark (a name such as "rows 10-25" for that part of the text); about the size of a
 * passage.
 */
const PLACE_LENGTH = 500
/** Maximum number of cells of a row that are read, and of UTF-16 units of a cell; what exceeds a maximum is left out. */
const MAX_CELLS = 1_000
const MAX_CELL = 32_767

export class SheetWriter {
  readonly #lines: string[] = []
  #length = 0
  readonly #headings: WrittenText['headings'][number][] = []
  readonly #blocks: WrittenText['blocks'][number][] = []
  readonly #places: WrittenText['places'][number][] = []
  #table: { readonly start: number; readonly header: string; from: number } | null = null
  #group: { readonly at: number; readonly first: number; last: number } | null = null
  #rows = 0
  /**
   * Offset in the text at which the current sheet begins. The sheet's name comes first; the place mark of the first rows (a name such as
   * "rows 1-25" for a part of the text) begins here, so that it includes the name.
   */
  #start = 0

  beginSheet(name: string): void {
    this.#endSheet()
    if (this.#length > 0) this.#line('')
    const start = this.#length
    this.#start = start
    const text = storableText(name).replace(/\s+/g, ' ').trim()
    this.#headings.push({ start, end: start + text.length, level: 1, text })
    this.#line(text)
    this.#line('')
  }

  /** Writes a row of the sheet; an empty row is left out. `number`: row number as spreadsheet programs show it, from 1. */
  row(number: number, cells: readonly string[]): void {
    const texts = cells
      .slice(0, MAX_CELLS)
      .map(cell => storableText(cell).slice(0, MAX_CELL).replace(/\s+/g, ' ').trim())
    while (texts.at(-1) === '') texts.pop()
    if (texts.length === 0) return
    const line = texts.join(CELLS)
    if (this.#table === null) this.#table = { start: this.#length, header: texts.length > 1 ? line : '', from: 0 }
    else if (this.#rows === 1) this.#table.from = this.#length + line.length + 1
    if (this.#group !== null && this.#length - this.#group.at + line.length > PLACE_LENGTH) this.#endGroup()
    this.#group ??= { at: this.#rows === 0 ? this.#start : this.#length, first: number, last: number }
    this.#group.last = number
    this.#rows++
    this.#line(line)
  }

  finish(): WrittenText {
    this.#endSheet()
    return { text: this.#lines.join(''), headings: this.#headings, blocks: this.#blocks, places: this.#places }
  }

  #line(text: string): void {
    this.#lines.push(`${text}\n`)
    this.#length += text.length + 1
    checkLength(this.#length)
  }

  #endGroup(): void {
    const group = this.#group
    this.#group = null
    if (group === null) return
    const { at, first, last } = group
    this.#places.push({ at, text: first === last ? `row ${first}` : `rows ${first}-${last}` })
  }

  #endSheet(): void {
    this.#endGroup()
    const table = this.#table
    this.#table = null
    if (table !== null && this.#rows > 1) {
      const lead = table.header.slice(0, MAX_LEAD).toWellFormed()
      this.#blocks.push({ start: table.start, end: this.#length, from: table.from, until: this.#length, lead })
    }
    this.#rows = 0
  }
}
