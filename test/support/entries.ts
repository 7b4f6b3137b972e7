/** Plain entries for tests that care about one field and take the rest as it comes. */
import type { ChunkDraft, EntryDraft } from '../../src/model/entry.ts'
import { audience } from '../../src/model/partition.ts'

/** A private note of the owner's; `fields` win. */
export function draftOf(fields: Partial<EntryDraft> & Pick<EntryDraft, 'id'>): EntryDraft {
  return {
    collection: 'notes',
    kind: 'note',
    title: '',
    content: `content of ${fields.id}`,
    tags: [],
    metadata: {},
    audience: audience('private'),
    origin: null,
    createdAt: 1000,
    updatedAt: 1000,
    validFrom: null,
    validUntil: null,
    knownAt: 1000,
    ...fields,
  }
}

/** One chunk that covers everything. */
export function wholeChunk(draft: EntryDraft): readonly ChunkDraft[] {
  return [
    { start: 0, end: draft.content.length, startLine: 1, endLine: draft.content.split('\n').length, headings: [] },
  ]
}

/** A chunk a line, line ends left out. */
export function lineChunks(draft: EntryDraft): readonly ChunkDraft[] {
  const chunks: ChunkDraft[] = []
  let start = 0
  for (const [at, line] of draft.content.split('\n').entries()) {
    chunks.push({ start, end: start + line.length, startLine: at + 1, endLine: at + 1, headings: [] })
    start += line.length + 1
  }
  return chunks
}
