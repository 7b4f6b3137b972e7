/** What a put changes, decided before anything is written; the same in every store. */

import { canonicalJson } from '../base/canonical.ts'
import { StepPace, type Steps } from '../base/turns.ts'
import { type Chunk, type ChunkDraft, chunkText, chunkTitle, type Entry, type EntryDraft } from '../model/entry.ts'
import { partitionKey } from '../model/partition.ts'
import type { SoundDraft } from './check.ts'

export interface PutPlan {
  /** For each given chunk the stored one that it continues, keeping key and vectors; else undefined. */
  readonly kept: readonly (Chunk | undefined)[]
  /** Stored chunks that no given one continues. */
  readonly dropped: readonly Chunk[]
  readonly entryChanged: boolean
  /** False when all chunks, places and headings included, are as they were. */
  readonly chunksChanged: boolean
}

/** Chunks compared in one step: some milliseconds. */
const CHUNKS_AT_ONCE = 512

/** In steps; nothing is written. */
export function* planPut(
  before: Entry | undefined,
  chunksBefore: readonly Chunk[],
  draft: SoundDraft,
  chunks: readonly ChunkDraft[],
): Steps<PutPlan> {
  if (before === undefined) {
    return { kept: chunks.map(() => undefined), dropped: [], entryChanged: true, chunksChanged: chunks.length > 0 }
  }
  const pace = new StepPace(CHUNKS_AT_ONCE)
  const free = yield* byEmbeddedText(before, chunksBefore, pace)
  const kept: (Chunk | undefined)[] = []
  for (const chunk of chunks) {
    kept.push(free.get(embeddedText(draft, chunk))?.shift())
    if (pace.isOver(1)) yield
  }
  const chunksChanged =
    chunks.length !== chunksBefore.length ||
    chunks.some((chunk, ordinal) => !continuesUnchanged(chunk, ordinal, kept[ordinal]))
  return { kept, dropped: [...free.values()].flat(), entryChanged: !sameEntry(before, draft), chunksChanged }
}

/** Whether the stored chunk needs no writing to become the given one at this place. */
export function continuesUnchanged(chunk: ChunkDraft, ordinal: number, stored: Chunk | undefined): boolean {
  return (
    stored !== undefined &&
    stored.ordinal === ordinal &&
    stored.start === chunk.start &&
    stored.end === chunk.end &&
    stored.startLine === chunk.startLine &&
    stored.endLine === chunk.endLine &&
    sameTexts(stored.headings, chunk.headings) &&
    stored.lead === chunk.lead &&
    stored.shownFrom === chunk.shownFrom &&
    sameSections(stored.sections, chunk.sections)
  )
}

/** Chunks by what they are embedded by, each list in the order of the entry. */
function* byEmbeddedText(entry: Entry, chunks: readonly Chunk[], pace: StepPace): Steps<Map<string, Chunk[]>> {
  const result = new Map<string, Chunk[]>()
  for (const chunk of chunks) {
    const text = embeddedText(entry, chunk)
    const list = result.get(text)
    if (list) list.push(chunk)
    else result.set(text, [chunk])
    if (pace.isOver(1)) yield
  }
  return result
}

/** Title and text, the title with its length before it: no other pair gives the same. */
function embeddedText(entry: Pick<Entry, 'title' | 'content'>, chunk: ChunkDraft): string {
  const title = chunkTitle(entry, chunk)
  return `${title.length}:${title}${chunkText(entry, chunk)}`
}

function sameEntry(entry: Entry, draft: SoundDraft): boolean {
  return (
    FIELDS.every(field => entry[field] === draft[field]) &&
    partitionKey(entry.audience) === partitionKey(draft.audience) &&
    sameTexts(entry.tags, draft.tags) &&
    canonicalJson(entry.metadata) === draft.metadataJson
  )
}

/** Compared by identity. Holder and id are what the entry was found by. */
const FIELDS = [
  'collection',
  'kind',
  'title',
  'content',
  'origin',
  'createdAt',
  'updatedAt',
  'validFrom',
  'validUntil',
  'knownAt',
] as const satisfies readonly (keyof EntryDraft)[]

function sameSections(a: ChunkDraft['sections'] = [], b: ChunkDraft['sections'] = []): boolean {
  return (
    a.length === b.length && a.every(({ at, headings }, i) => at === b[i]?.at && sameTexts(headings, b[i].headings))
  )
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at])
}
