/**
 * Reads Jupyter notebooks: their cells in order; Markdown unchanged, code and its output as fenced code blocks. Each cell is a named place.
 */
import { isRecord } from '../base/record.ts'
import { storableText } from '../base/storable.ts'
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import type { Block } from '../text/blocks.ts'
import { chunkInSteps } from '../text/chunk.ts'
import { markdownStructureInSteps } from '../text/markdown-structure.ts'
import { firstHeading, type Heading, type PlaceMark } from '../text/outline.ts'
import { nameWithoutExtension, titleOf, WHOLE_FILE } from './values.ts'

/** Maximum size of a notebook in bytes. Larger than for other files, because pictures are contained as text. */
const MAX_BYTES = 64 * 1024 * 1024
/** Maximum length of the output of one cell in UTF-16 units; the rest is left out. */
const MAX_OUTPUT = 2_000

export const notebook: Ingester = {
  name: 'notebook',
  version: 1,
  maxBytes: MAX_BYTES,
  accepts: file => file.extension === 'ipynb',
  read,
}

function* read(file: SourceFile): Steps<FileReading> {
  let json: unknown
  try {
    json = JSON.parse(file.text)
  } catch (error) {
    return problem(`not a notebook: ${error instanceof Error ? error.message : String(error)}`)
  }
  const cells = isRecord(json) ? cellsOf(json) : null
  if (cells === null) return problem('not a notebook: it has no list of cells')
  const language = languageOf(json as Fields)
  const parts: string[] = []
  const headings: Heading[] = []
  const blocks: Block[] = []
  const places: PlaceMark[] = []
  let length = 0
  for (const [index, cell] of cells.entries()) {
    const text = isRecord(cell) ? textOfCell(cell, language) : ''
    if (text.trim() === '') continue
    const at = length
    // The headings and blocks of each cell are found separately, so that a code fence that is not closed in a cell ends with the cell.
    const structure = yield* markdownStructureInSteps(text)
    for (const heading of structure.headings)
      headings.push({ ...heading, start: heading.start + at, end: heading.end + at })
    for (const { start, end, from, until, ...block } of structure.blocks ?? [])
      blocks.push({ ...block, start: start + at, end: end + at, from: from + at, until: until + at })
    places.push({ at, text: `cell ${index + 1}` })
    parts.push(text, '\n\n')
    length += text.length + 2
    yield
  }
  if (parts.length === 0) return { documents: [], problems: [] }
  const content = parts.join('')
  const entry = {
    ...WHOLE_FILE,
    title: titleOf(firstHeading(headings)) || nameWithoutExtension(file),
    content,
    chunks: yield* chunkInSteps(content, { form: 'prose', headings, blocks, places }),
    ...{ kind: 'document', tags: language === '' ? [] : [language], metadata: { path: file.path } },
  }
  return { documents: [entry], problems: [] }
}

type Fields = Readonly<Record<string, unknown>>

function problem(message: string): FileReading {
  return { documents: [], problems: [{ line: null, message }] }
}

/** The cells of a notebook; in notebook format 3 they are inside a worksheet. Null if there are none. */
function cellsOf(json: Fields): readonly unknown[] | null {
  if (Array.isArray(json['cells'])) return json['cells']
  const [sheet] = Array.isArray(json['worksheets']) ? json['worksheets'] : []
  return isRecord(sheet) && Array.isArray(sheet['cells']) ? sheet['cells'] : null
}

function languageOf({ metadata }: Fields): string {
  const { kernelspec, language_info: info } = isRecord(metadata) ? metadata : {}
  const name = (isRecord(info) && info['name']) || (isRecord(kernelspec) && kernelspec['language'])
  return typeof name === 'string' && /^[\w+#.-]{1,30}$/.test(name) ? name.toLowerCase() : ''
}

function textOfCell(cell: Fields, language: string): string {
  const source = textOf(cell['source'] ?? cell['input'])
  if (cell['cell_type'] !== 'code') return source
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'].filter(isRecord).map(outputOf).join('\n').trim() : ''
  const parts = [fenced(source, language), fenced(outputs.slice(0, MAX_OUTPUT).toWellFormed(), 'output')]
  return parts.filter(part => part !== '').join('\n\n')
}

/** Text of one output of a notebook cell: what was printed, the value as text, or the error; pictures and HTML are left out. */
function outputOf(output: Fields): string {
  const data = isRecord(output['data']) ? output['data'] : {}
  const error = typeof output['ename'] === 'string' ? `${output['ename']}: ${textOf(output['evalue'])}` : ''
  return (textOf(output['text']) || textOf(data['text/plain']) || error).trim()
}

function fenced(code: string, language: string): string {
  if (code.trim() === '') return ''
  const longest = Math.max(2, ...(code.match(/`{3,}/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code.replace(/\n+$/, '')}\n${fence}`
}

/** Text of a notebook field that is either a text or a list of lines. */
function textOf(value: unknown): string {
  const lines = Array.isArray(value) ? value.filter(line => typeof line === 'string') : [value]
  return storableText(lines.filter(line => typeof line === 'string').join(''))
}
