/**
 * Builds the text of a document from the events that word processor formats deliver: first a piece of text, and only at its end what it was
 * (a paragraph, heading, list item or table cell).
 */
import { TextWriter, type WrittenText } from '../../text/text-writer.ts'
import { checkLength } from './document.ts'

export interface ParagraphStyle {
  /** Level of the heading if the paragraph is one, 1 for the outermost; absent: it is not a heading. */
  readonly level?: number | undefined
  readonly isItem?: boolean | undefined
}

/** Text between the cells of a table row. */
const CELLS = ' | '

export class FlowWriter {
  readonly #writer = new TextWriter()
  #paragraph: string[] = []
  /** Cells of the current row of the outermost table. A table within a cell becomes part of that cell's text. */
  #cells: string[] = []
  #cell: string[] = []
  #tables = 0
  #isHeader = false
  #wasItem = false

  text(text: string): void {
    this.#paragraph.push(text)
  }

  /** Begins a named place in the document, such as a page or a slide; the text that follows belongs to this place. */
  place(text: string): void {
    this.#writer.place(text)
  }

  /** Ends the current paragraph and returns its text. */
  endParagraph({ level, isItem = false }: ParagraphStyle = {}): string {
    const text = this.#paragraph.join('')
    this.#paragraph = []
    if (text.trim() === '') return ''
    if (this.#tables > 0) {
      this.#cell.push(text)
      return text
    }
    const writer = this.#writer
    checkLength(writer.length)
    writer.breakLines(isItem && this.#wasItem ? 1 : 2)
    this.#wasItem = isItem
    if (isItem) {
      writer.beginBlock('prose')
      writer.bullet()
    }
    if (level !== undefined) writer.beginHeading()
    const lines = text.split('\n')
    for (const [at, line] of lines.entries()) {
      if (at > 0) writer.breakLines(1)
      writer.text(line)
    }
    if (level !== undefined) writer.endHeading(level)
    if (isItem) writer.endBlock()
    writer.breakLines(1)
    return text
  }

  beginTable(): void {
    this.endParagraph()
    if (this.#tables++ > 0) return
    this.#writer.breakLines(2)
    this.#writer.beginBlock('table')
    this.#isHeader = true
  }

  endCell(): void {
    this.endParagraph()
    if (this.#tables !== 1) return
    this.#cells.push(this.#cell.join(' ').replace(/\s+/g, ' ').trim())
    this.#cell = []
  }

  /** Ends a table row; the first row of a table becomes the table's header. */
  endRow(): void {
    if (this.#tables !== 1) return
    const cells = this.#cells
    this.#cells = []
    if (cells.every(cell => cell === '')) return
    checkLength(this.#writer.length)
    this.#writer.breakLines(1)
    this.#writer.text(cells.join(CELLS))
    if (this.#isHeader) this.#writer.endHeader(true)
    this.#isHeader = false
  }

  endTable(): void {
    if (this.#tables === 0 || --this.#tables > 0) return
    this.#writer.endBlock()
    this.#writer.breakLines(2)
    this.#wasItem = false
  }

  finish(): WrittenText {
    this.endParagraph()
    while (this.#tables > 0) this.endTable()
    return this.#writer.finish()
  }
}
