/**
 * Reads Excel workbooks (xlsx): the values that cells had when the file was saved, with dates and percentages as Excel shows them rather
 * than as raw numbers.
 */
import { nameWithoutExtension } from '../values.ts'
import type { DocumentReader } from './document.ts'
import { propertiesOf, readZip, relationsOf, requireText } from './office-zip.ts'
import { SheetWriter } from './sheet-writer.ts'
import { type Attributes, attributeOf, readXml } from './xml.ts'

const WHAT = 'an Excel workbook'
const MAIN = 'xl/workbook.xml'

export const readXlsx: DocumentReader = (bytes, file) =>
  readZip(bytes, WHAT, async zip => {
    const sheets: { readonly name: string; readonly id: string }[] = []
    let isFrom1904 = false
    readXml(await requireText(zip, MAIN, WHAT), {
      open(name, attributes) {
        if (name === 'sheet') sheets.push({ name: attributes['name'] ?? '', id: attributes['r:id'] ?? '' })
        if (name === 'workbookPr') isFrom1904 = /^(1|true)$/.test(attributes['date1904'] ?? '')
      },
    })
    const relations = await relationsOf(zip, MAIN)
    const texts = sharedTexts(await zip.text('xl/sharedStrings.xml'))
    const formats = formatsOf(await zip.text('xl/styles.xml'))
    const writer = new SheetWriter()
    for (const { name, id } of sheets) {
      const path = relations.get(id)?.path
      const xml = path === undefined ? null : await zip.text(path)
      if (xml === null) continue
      writer.beginSheet(name)
      readXml(xml, new RowReader(writer, texts, formats, isFrom1904))
    }
    const properties = propertiesOf(await zip.text('docProps/core.xml'))
    // If the workbook's properties have no title, the file name is used rather than the name of the first sheet, which says little about
    // the contents.
    return { ...properties, title: properties.title || nameWithoutExtension(file), ...writer.finish() }
  })

type Format = 'number' | 'date' | 'percent'

class RowReader {
  readonly #writer: SheetWriter
  readonly #texts: readonly string[]
  readonly #formats: readonly Format[]
  readonly #isFrom1904: boolean
  #row = 0
  #cells: string[] = []
  #column = 0
  #type = ''
  #format: Format = 'number'
  #value = ''
  #isValue = false

  constructor(writer: SheetWriter, texts: readonly string[], formats: readonly Format[], isFrom1904: boolean) {
    this.#writer = writer
    this.#texts = texts
    this.#formats = formats
    this.#isFrom1904 = isFrom1904
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'row') {
      this.#row = Number(attributes['r'] ?? this.#row + 1)
      this.#cells = []
    } else if (name === 'c') {
      const reference = attributes['r']
      this.#column = reference === undefined ? this.#cells.length : columnOf(reference)
      this.#type = attributes['t'] ?? 'n'
      this.#format = this.#formats[Number(attributes['s'] ?? 0)] ?? 'number'
      this.#value = ''
    } else if (name === 'v' || name === 't') this.#isValue = true
    else if (name === 'rPh') this.#type = '' // phonetic guide (pronunciation of the text), which is not part of the cell's text
  }

  text(text: string): void {
    if (this.#isValue) this.#value += text
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    if (name === 'c' && this.#column < MAX_COLUMNS) {
      while (this.#cells.length < this.#column) this.#cells.push('')
      this.#cells[this.#column] = this.#shown()
    }
    if (name === 'row') this.#writer.row(this.#row, this.#cells)
  }

  #shown(): string {
    const value = this.#value
    if (this.#type === 's') return this.#texts[Number(value)] ?? ''
    if (this.#type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
    if (this.#type !== 'n' || value === '') return value
    const number = Number(value)
    if (!Number.isFinite(number)) return value
    if (this.#format === 'date') return dateOf(number, this.#isFrom1904) ?? value
    return this.#format === 'percent' ? `${rounded(number * 100)}%` : rounded(number)
  }
}

const MAX_COLUMNS = 16_384

/** Index of the column in a cell reference, counted from 0: 27 for `AB12`. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A') column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** Rounds a number so that binary rounding errors disappear: 0.1 + 0.2 gives 0.3. */
function rounded(value: number): string {
  return String(Number(value.toPrecision(15)))
}

const DAY = 86_400_000

/**
 * Converts a serial number of a spreadsheet (days since the end of 1899, or since the start of 1904) to text: a date, a date with time, or
 * for less than one day a time. Null: the number is out of range.
 */
function dateOf(days: number, isFrom1904: boolean): string | null {
  const at = (isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30)) + Math.round((days * DAY) / 1000) * 1000
  if (days < 0 || !(at < Date.UTC(10_000, 0))) return null
  const text = new Date(at).toISOString()
  if (days < 1) return text.slice(11, 19)
  return Number.isInteger(days) ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

function sharedTexts(xml: string | null): readonly string[] {
  const texts: string[] = []
  if (xml === null) return texts
  let text = ''
  let isText = false
  let isSpoken = false
  readXml(xml, {
    open(name) {
      if (name === 'si') text = ''
      if (name === 't') isText = true
      if (name === 'rPh') isSpoken = true
    },
    text(part) {
      if (isText && !isSpoken) text += part
    },
    close(name) {
      if (name === 't') isText = false
      if (name === 'rPh') isSpoken = false
      if (name === 'si') texts.push(text)
    },
  })
  return texts
}

/** Number formats (plain number, date or percentage), by the index of the cell style. */
function formatsOf(xml: string | null): readonly Format[] {
  const formats: Format[] = []
  if (xml === null) return formats
  const codes = new Map<string, string>()
  let isCells = false
  readXml(xml, {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(attributeOf(attributes, 'numFmtId'), attributeOf(attributes, 'formatCode'))
      if (name === 'cellXfs') isCells = true
      if (name === 'xf' && isCells) formats.push(formatOf(attributeOf(attributes, 'numFmtId'), codes))
    },
    close(name) {
      if (name === 'cellXfs') isCells = false
    },
  })
  return formats
}

/** Number formats with an id below 164 are predefined by the standard (ECMA-376, 18.8.30). */
function formatOf(id: string, codes: ReadonlyMap<string, string>): Format {
  const number = Number(id)
  if ((number >= 14 && number <= 22) || (number >= 27 && number <= 36) || (number >= 45 && number <= 47)) return 'date'
  if (number === 9 || number === 10) return 'percent'
  const code = (codes.get(id) ?? '').replace(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]/gi, '')
  if (/[dmyhs]/i.test(code) && !/[#0?]/.test(code.replace(/\.0+/, ''))) return 'date'
  return code.includes('%') ? 'percent' : 'number'
}
