/**
 * Documents that are longer than an entry may be are kept in parts: the first has the id of the document, the others `#part-2`
 * and so on behind it. Offsets and lines of a part are those of its own content.
 */
import type { ChunkDraft } from '../model/entry.ts'
import type { FileDocument } from '../model/ingester.ts'
import { MAX_CONTENT_LENGTH } from '../model/limits.ts'
import { lineEnds } from '../text/lines.ts'

/** The document itself where it is short enough. Parts end between chunks, so each is at most `most` long as long as no chunk is. */
export function inParts(document: FileDocument, most = MAX_CONTENT_LENGTH): readonly FileDocument[] {
  const { id, content, chunks, title, metadata, rows } = document
  if (content.length <= most) return [document]
  const groups = groupsOf(chunks, content.length, most)
  return groups.map(({ start, end, chunks: own }, at) => {
    const firstLine = at === 0 ? 1 : (own[0] as ChunkDraft).startLine
    const number = at + 1
    return {
      ...document,
      id: id === null || at === 0 ? id : `${id}#part-${number}`,
      part: at === 0 ? document.part : `part-${number}`,
      title: `${title} (part ${number} of ${groups.length})`,
      content: content.slice(start, end),
      chunks: own.map(chunk => moved(within(chunk, end, content), start, firstLine)),
      metadata: { ...metadata, part: number, parts: groups.length, first_line: firstLine },
      rows: at === 0 ? rows : undefined,
    }
  })
}

interface Group {
  readonly start: number
  readonly end: number
  readonly chunks: readonly ChunkDraft[]
}

/** Chunks that fit together, from where the first of them begins to where the next group does. */
function groupsOf(chunks: readonly ChunkDraft[], length: number, most: number): readonly Group[] {
  const groups: Group[] = []
  let start = 0
  let own: ChunkDraft[] = []
  for (const chunk of chunks) {
    if (own.length > 0 && chunk.end - start > most) {
      groups.push({ start, end: chunk.start, chunks: own })
      start = chunk.start
      own = []
    }
    own.push(chunk)
  }
  return [...groups, { start, end: length, chunks: own }]
}

/** Chunks overlap: the last of a part may reach into the next one, and ends with its own. */
function within(chunk: ChunkDraft, end: number, content: string): ChunkDraft {
  if (chunk.end <= end) return chunk
  const endLine = chunk.startLine + lineEnds(content, chunk.start, end - 1)
  const sections = chunk.sections?.filter(({ at }) => chunk.start + at < end)
  return { ...chunk, end, endLine, ...(sections !== undefined && { sections }) }
}

function moved(chunk: ChunkDraft, by: number, firstLine: number): ChunkDraft {
  const lines = firstLine - 1
  return {
    ...chunk,
    ...{ start: chunk.start - by, end: chunk.end - by },
    ...{ startLine: chunk.startLine - lines, endLine: chunk.endLine - lines },
  }
}
