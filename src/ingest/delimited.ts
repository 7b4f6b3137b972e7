/**
 * Reads tables as text (CSV, TSV). The content of the entry is the file unchanged. Every chunk repeats the header row, and names such as
 * "rows 10-25" mark which rows a part of the text contains.
 */
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { type Block, MAX_LEAD } from '../text/blocks.ts'
import { chunkInSteps } from '../text/chunk.ts'
import type { PlaceMark } from '../text/outline.ts'
import { nameWithoutExtension, WHOLE_FILE } from './values.ts'

/**
 * Number of UTF-16 units of rows that share one place mark (a name such as "rows 10-25" for that part of the text); about the size of a
 * passage.
 */
const PLACE_LENGTH = 500

export const delimited: Ingester = {
  name: 'delimited',
  version: 1,
  accepts: file => ['csv', 'tsv', 'tab'].includes(file.extension),
  *read(file) {
    const { text } = file
    if (text.trim() === '') return { documents: [], problems: [] } satisfies FileReading
    const title = nameWithoutExtension(file)
    const chunks = yield* chunksOf(file)
    const entry = { ...WHOLE_FILE, title, content: text, chunks, kind: 'document', tags: [] }
    return { documents: [{ ...entry, metadata: { path: file.path } }], problems: [] }
  },
}

function* chunksOf({ text }: Pick<SourceFile, 'text'>) {
  const rows = yield* rowsOf(text)
  const places = yield* placesOf(rows, text.length)
  return yield* chunkInSteps(text, { form: 'prose', headings: [], blocks: blocksOf(text, rows), places })
}

const ROWS_AT_ONCE = 1 << 12

/** Offsets at which rows begin. A line end within quotes does not end a row, unless the quotes are never closed. */
function* rowsOf(text: string): Steps<readonly number[]> {
  const isQuoted = (text.match(/"/g)?.length ?? 0) % 2 === 0
  const starts = [0]
  let isOpen = false
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed + 1
    if (isQuoted && text.slice(start, end).split('"').length % 2 === 0) isOpen = !isOpen
    if (!isOpen && end < text.length) starts.push(end)
    start = end
    if (starts.length % ROWS_AT_ONCE === 0) yield
  }
  return starts
}

function* placesOf(starts: readonly number[], length: number): Steps<readonly PlaceMark[]> {
  const places: PlaceMark[] = []
  for (let first = 0; first < starts.length; ) {
    const at = starts[first] as number
    let next = first + 1
    while (next < starts.length && (starts[next + 1] ?? length) - at <= PLACE_LENGTH) next++
    places.push({ at, text: next === first + 1 ? `row ${next}` : `rows ${first + 1}-${next}` })
    first = next
    if (places.length % ROWS_AT_ONCE === 0) yield
  }
  return places
}

/** Whether the first row of a table is a header: none of its cells is a number, and there are other rows. */
function blocksOf(text: string, starts: readonly number[]): readonly Block[] {
  const [, second, third = text.length] = starts
  if (second === undefined) return []
  const header = text.slice(0, second).trimEnd()
  const cells = header.split(/[,;\t|]/).map(cell => cell.replaceAll('"', '').trim())
  const isHeader = cells.length > 1 && cells.every(cell => !/^[-+]?[\d.,]+%?$/.test(cell))
  const lead = isHeader ? header.slice(0, MAX_LEAD).toWellFormed() : ''
  return [{ start: 0, end: text.length, from: third, until: text.length, lead }]
}
