/** Reads OpenDocument files: texts with their headings, spreadsheets with their rows, presentations with their slides and notes. */
import { nameWithoutExtension } from '../values.ts'
import { type DocumentReader, encrypted } from './document.ts'
import { FlowWriter } from './flow-writer.ts'
import { propertiesOf, readZip, requireText } from './office-zip.ts'
import { SheetWriter } from './sheet-writer.ts'
import { type Attributes, attributeOf, readXml, type XmlHandler } from './xml.ts'

export const readOdt: DocumentReader = bytes => readOdf(bytes, 'an OpenDocument text', flowReader)
export const readOdp: DocumentReader = bytes => readOdf(bytes, 'an OpenDocument presentation', flowReader)
export const readOds: DocumentReader = async (bytes, file) => {
  const document = await readOdf(bytes, 'an OpenDocument spreadsheet', sheetReader)
  return { ...document, title: document.title || nameWithoutExtension(file) }
}

interface BodyReader extends XmlHandler {
  finish(): ReturnType<FlowWriter['finish']>
}

function readOdf(bytes: Uint8Array, what: string, makeReader: () => BodyReader): ReturnType<DocumentReader> {
  return readZip(bytes, what, async zip => {
    if ((await zip.text('META-INF/manifest.xml'))?.includes('encryption-data')) throw encrypted()
    const body = makeReader()
    readXml(await requireText(zip, 'content.xml', what), body)
    return { ...propertiesOf(await zip.text('meta.xml')), ...body.finish() }
  })
}

/**
 * XML elements whose text does not belong to the document: deleted text of tracked changes, comments, note marks, forms and style
 * definitions.
 */
const LEFT_OUT = new Set(
  'tracked-changes annotation annotation-end note-citation forms font-face-decls automatic-styles scripts'.split(' '),
)

/** Wraps an XML handler: the returned handler passes on only what is outside the elements in `LEFT_OUT`. */
function withoutLeftOut(own: Required<XmlHandler>): Required<XmlHandler> {
  let leftOut = 0
  return {
    open(name, attributes) {
      if (leftOut > 0 || LEFT_OUT.has(name)) leftOut++
      else own.open(name, attributes)
    },
    text(text) {
      if (leftOut === 0) own.text(text)
    },
    close(name) {
      if (leftOut > 0) leftOut--
      else own.close(name)
    },
  }
}

function flowReader(): BodyReader {
  const writer = new FlowWriter()
  let slides = 0
  let isTitle = false
  /** Number of open XML elements in which text of the document may occur; outside of them, text is ignored. */
  let paragraphs = 0
  let notes = 0
  let items = 0
  let level = 1
  return {
    finish: () => writer.finish(),
    ...withoutLeftOut({
      open(name, attributes) {
        if (name === 'page') writer.place(`slide ${++slides}`)
        else if (name === 'frame') isTitle = attributeOf(attributes, 'class') === 'title'
        else if (name === 'list-item') items++
        else if (name === 'note') {
          notes++
          writer.text(' [')
        } else if (name === 'p' || name === 'h') paragraphs++
        else if (name === 'table') writer.beginTable()
        else if (paragraphs > 0) inlineText(name, attributes, text => writer.text(text))
        if (name === 'h') level = Number(attributeOf(attributes, 'outline-level') || 1)
      },
      text(text) {
        if (paragraphs > 0) writer.text(text.replace(/\s+/g, ' '))
      },
      close(name) {
        if (name === 'list-item') items--
        if (name === 'note') {
          notes--
          writer.text(']')
        }
        if (name === 'p' || name === 'h') {
          paragraphs--
          if (notes > 0) return
          const heading = name === 'h' ? level : isTitle ? 1 : undefined
          writer.endParagraph({ level: heading, isItem: heading === undefined && items > 0 })
        }
        if (name === 'frame') isTitle = false
        if (name === 'table-cell') writer.endCell()
        if (name === 'table-row') writer.endRow()
        if (name === 'table') writer.endTable()
      },
    }),
  }
}

/** Maximum number of times that a repeated row or cell is written out; a higher number means the empty rest of a sheet. */
const MAX_REPEATED = 1_000

function sheetReader(): BodyReader {
  const writer = new SheetWriter()
  let row = 0
  let rows = 1
  let cells: string[] = []
  let repeated = 1
  let cell: string | null = null
  return {
    finish: () => writer.finish(),
    ...withoutLeftOut({
      open(name, attributes) {
        const count = (what: string) => Math.max(1, Number(attributeOf(attributes, what)) || 1)
        if (name === 'table') {
          writer.beginSheet(attributeOf(attributes, 'name'))
          row = 0
        } else if (name === 'table-row') {
          rows = count('number-rows-repeated')
          cells = []
        } else if (name === 'table-cell' || name === 'covered-table-cell') {
          repeated = count('number-columns-repeated')
          cell = ''
        } else if (cell !== null) {
          if (name === 'p' && cell !== '') cell += ' '
          inlineText(name, attributes, text => {
            cell += text
          })
        }
      },
      text(text) {
        if (cell !== null) cell += text
      },
      close(name) {
        if (name === 'table-cell' || name === 'covered-table-cell') {
          for (let left = Math.min(repeated, MAX_REPEATED); left > 0; left--) cells.push(cell ?? '')
          cell = null
        }
        if (name !== 'table-row') return
        const isEmpty = cells.every(text => text === '')
        for (let at = 1; at <= Math.min(rows, isEmpty ? 0 : MAX_REPEATED); at++) writer.row(row + at, cells)
        row += rows
      },
    }),
  }
}

const MAX_BLANKS = 100

function inlineText(name: string, attributes: Attributes, write: (text: string) => void): void {
  if (name === 's') write(' '.repeat(Math.min(MAX_BLANKS, Number(attributeOf(attributes, 'c')) || 1)))
  if (name === 'tab') write(' ')
  if (name === 'line-break') write('\n')
}
