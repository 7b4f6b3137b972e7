/**
 * Reads PDF files: lines in the order of the page, headings recognised by font size. Each page becomes a named place, so that a result can
 * name its page. Scripts in the file are never run.
 */

import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../base/canonical.ts'
import { packageUrl } from '../../base/module-url.ts'
import { storableText } from '../../base/storable.ts'
import { checkLength, type DocumentReader, encrypted, unreadable } from './document.ts'
import { FlowWriter } from './flow-writer.ts'

const MAX_PAGES = 10_000
/**
 * Folder of the character maps that PDFs in Chinese, Japanese and Korean refer to without including them. The package contains the maps,
 * because the bundled pdf.js does not.
 */
const IS_SOURCE = import.meta.url.endsWith('.ts')
const MAPS = fileURLToPath(packageUrl(import.meta.url, IS_SOURCE ? 'node_modules/pdfjs-dist/cmaps/' : 'dist/cmaps/'))

export const readPdf: DocumentReader = async bytes => {
  // Up to 1,024 bytes of other data may precede the header `%PDF-` of a PDF file.
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024)).includes('%PDF-')) {
    throw unreadable('not a PDF: it does not begin with %PDF-')
  }
  const pages: (readonly Line[])[] = []
  const { getDocumentProxy } = await import('unpdf')
  const options = { verbosity: 0, disableFontFace: true, useSystemFonts: false, cMapUrl: MAPS, cMapPacked: true }
  const pdf = await getDocumentProxy(bytes, options).catch((error: unknown) => {
    if ((error as Error).name === 'PasswordException') throw encrypted()
    throw error
  })
  if (pdf.numPages > MAX_PAGES) throw unreadable(`it has ${pdf.numPages} pages; at most ${MAX_PAGES} are read`)
  let length = 0
  const broken: number[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number)
      const lines = linesOf((await page.getTextContent()).items as readonly PdfItem[])
      for (const { text } of lines) length += text.length
      pages.push(lines)
      page.cleanup()
    } catch {
      pages.push([])
      broken.push(number)
    }
    checkLength(length)
  }
  if (broken.length > 0 && broken.length === pdf.numPages) throw unreadable('damaged: none of its pages can be read')
  const info = (await pdf.getMetadata()).info as unknown as Readonly<Record<string, unknown>>
  return {
    ...written(pages),
    title: titleIn(info),
    ...propertiesIn(info),
    metadata: { pages: pdf.numPages, ...authorIn(info) },
    warnings: broken.length === 0 ? [] : [`pages that could not be read: ${broken.slice(0, 20).join(', ')}`],
  }
}

/** The properties of a text item of pdf.js that are used here; items that only mark structure have no `str`. */
interface PdfItem {
  readonly str?: string
  readonly height: number
  readonly width: number
  /**
   * Transformation matrix of the text item: its last two numbers are the distances of the text from the left and the bottom of the page.
   */
  readonly transform: readonly number[]
  readonly hasEOL: boolean
}

interface Line {
  text: string
  /** Font size of the largest letters in this line of a PDF page, in points. */
  size: number
  /** Distance of the line's baseline from the bottom of the page. */
  readonly y: number
}

function linesOf(items: readonly PdfItem[]): readonly Line[] {
  const lines: Line[] = []
  let line: Line | null = null
  let right = 0
  for (const { str, height, width, transform, hasEOL } of items) {
    if (str === undefined) continue
    const [, , , , x = 0, y = 0] = transform
    if (str !== '') {
      const isSame: boolean = line !== null && Math.abs(line.y - y) < Math.max(2, line.size / 2)
      if (line === null || !isSame) {
        line = { text: '', size: 0, y }
        lines.push(line)
      } else if (x - right > height / 4 && !/\s$/.test(line.text) && !/^\s/.test(str)) line.text += ' '
      line.text += str
      if (str.trim() !== '') line.size = Math.max(line.size, height)
      right = x + width
    }
    if (hasEOL) line = null
  }
  for (const one of lines) one.text = storableText(one.text).replace(/\s+/g, ' ').trim()
  return lines.filter(({ text }) => text !== '')
}

/** Minimum font size of a heading in a PDF, as a multiple of the font size of body text. */
const LARGER = 1.15
const MAX_HEADING = 200
const MAX_LEVELS = 6

function written(pages: readonly (readonly Line[])[]): ReturnType<FlowWriter['finish']> {
  const isRepeated = repeatedLines(pages)
  const own = pages.map(lines => lines.filter((line, at) => !isRepeated(line, at, lines.length)))
  const lines = own.flat()
  const text = commonest(lines)
  const levels = levelsOf(lines, text)
  const writer = new FlowWriter()
  for (const [at, page] of own.entries()) {
    writer.place(`page ${at + 1}`)
    writePage(writer, page, levels)
  }
  return writer.finish()
}

function writePage(writer: FlowWriter, lines: readonly Line[], levels: ReadonlyMap<number, number>): void {
  let open: { level: number | undefined; text: string; length: number } | null = null
  const end = (): void => {
    if (open === null) return
    writer.text(open.text)
    // A paragraph longer than `MAX_HEADING` characters is not a heading, even if its letters are large.
    writer.endParagraph({ level: open.length <= MAX_HEADING ? open.level : undefined })
    open = null
  }
  for (const [at, line] of lines.entries()) {
    const level = levels.get(sizeOf(line))
    const before = lines[at - 1]
    const gap = before === undefined ? 0 : before.y - line.y
    const isNew = gap < 0 || gap > (level === undefined ? 1.6 : 1.4) * Math.max(line.size, before?.size ?? 0)
    if (open === null || open.level !== level || isNew) {
      end()
      open = { level, text: line.text, length: line.text.length }
    } else {
      open.text = level === undefined ? joined(open.text, line.text) : `${open.text} ${line.text}`
      open.length += line.text.length + 1
    }
  }
  end()
}

/** Joins two lines of a paragraph. A word that is hyphenated at the end of the first line becomes one word. */
function joined(text: string, line: string): string {
  const isBroken = /\p{Ll}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)
  return isBroken ? text.slice(0, -1) + line : `${text}\n${line}`
}

/** Font size of a line, rounded to half points, because programs that write PDFs round sizes differently. */
function sizeOf({ size }: Line): number {
  return Math.round(size * 2) / 2
}

/** The font size that most characters of the document have. */
function commonest(lines: readonly Line[]): number {
  const letters = new Map<number, number>()
  for (const line of lines) letters.set(sizeOf(line), (letters.get(sizeOf(line)) ?? 0) + line.text.length)
  return [...letters].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0
}

/** Heading level of each font size that is larger than body text: the largest size has level 1. */
function levelsOf(lines: readonly Line[], text: number): ReadonlyMap<number, number> {
  const sizes = new Set(lines.filter(line => /\p{L}/u.test(line.text)).map(sizeOf))
  const larger = [...sizes].filter(size => size >= LARGER * text).sort((a, b) => b - a)
  return new Map(larger.map((size, at) => [size, Math.min(at + 1, MAX_LEVELS)]))
}

/** Number of lines at the top and bottom of a page that are checked for repetition on other pages. */
const EDGE_LINES = 2
/** A line counts as repeated only in a document of at least this many pages, and on at least this share of them. */
const MIN_PAGES = 3
const SHARE = 0.5

/**
 * Returns a function that recognises running heads and page numbers: lines at the top or bottom edge of most pages that are equal except
 * for their numbers.
 */
function repeatedLines(pages: readonly (readonly Line[])[]): (line: Line, at: number, count: number) => boolean {
  const isEdge = (at: number, count: number) => at < EDGE_LINES || at >= count - EDGE_LINES
  const counts = new Map<string, number>()
  for (const lines of pages) {
    const edges = lines.filter((_, at) => isEdge(at, lines.length)).map(shapeOf)
    for (const shape of new Set(edges)) counts.set(shape, (counts.get(shape) ?? 0) + 1)
  }
  const least = Math.max(MIN_PAGES, SHARE * pages.length)
  return (line, at, count) => isEdge(at, count) && (counts.get(shapeOf(line)) ?? 0) >= least
}

function shapeOf({ text, y }: Line): string {
  return `${Math.round(y)} ${text.replace(/\d+/g, '#')}`
}

/** Titles that word processors and other programs put in a PDF when the author gave none, such as a file name. */
const NO_TITLE = /^(untitled|microsoft (word|powerpoint|excel) - .*|.*\.(docx?|odt|pptx?|xlsx?|tex|dvi|indd|qxd))$/i

function titleIn({ Title: title }: Readonly<Record<string, unknown>>): string {
  return typeof title === 'string' && !NO_TITLE.test(title.trim()) ? title : ''
}

function authorIn({ Author: author }: Readonly<Record<string, unknown>>): JsonObject {
  const isNamed = typeof author === 'string' && author.trim() !== '' && author !== 'anonymous'
  return isNamed ? { author: storableText(author) } : {}
}

function propertiesIn(info: Readonly<Record<string, unknown>>) {
  return { createdAt: timeIn(info['CreationDate']), updatedAt: timeIn(info['ModDate']) }
}

/** Parses a PDF date such as `D:20261127004650+01'00'`; null if the value is not a date of this form. */
function timeIn(value: unknown): number | null {
  const parts =
    typeof value === 'string'
      ? /^D:(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:([-+])(\d\d)'?(\d\d)?)?/.exec(value)
      : null
  if (parts === null) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', sign = '+', ahead = '00', more = '00'] = parts
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${ahead}:${more}`)
  return Number.isNaN(at) ? null : at
}
