/** Chunks of what is stored, as this version would cut it: for stores that an older version has written. */
import type { Steps } from '../base/turns.ts'
import type { Chunk, ChunkDraft, Entry, EntryKey } from '../model/entry.ts'
import { FILES } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'
import { chunkContentInSteps } from '../text/chunk.ts'
import { countTokens } from '../text/count-tokens.ts'
import { ingesterFor } from './ingesters.ts'
import { named } from './load-file.ts'

export interface Recut {
  readonly key: EntryKey
  /** Of the content that was cut. */
  readonly contentHash: string
  readonly chunks: readonly ChunkDraft[]
}

/** Kinds whose chunks are made by other rules: lines of code, whole beliefs, messages with the question before them, concepts. */
const OTHERWISE: ReadonlySet<string> = new Set(['code', 'belief', 'message', 'concept'])

/**
 * Reads at once, and cuts in steps. Null: its chunks are made by other rules, or need the file; adding that again cuts it again. Entries of files are cut as the file is
 * read, others as Markdown.
 */
export function recut(reader: StoreReader, entry: Entry): Steps<Recut | null> | null {
  const { key, kind, content } = entry
  const before = reader.chunksOf(key)
  if (OTHERWISE.has(kind) || !isWhole(before, content)) return null
  const path = reader.table(FILES).get({ entry: key })?.['path']
  const cutting =
    typeof path === 'string' ? chunksOfFile(path, content) : chunkContentInSteps(content, { format: 'markdown' })
  return cutting === undefined ? null : recutFrom(entry, before[0]?.start, cutting)
}

function* recutFrom(
  { key, contentHash }: Entry,
  start: number | undefined,
  cutting: Steps<readonly ChunkDraft[]>,
): Steps<Recut | null> {
  const chunks = yield* cutting
  return chunks[0]?.start === start ? { key, contentHash, chunks } : null
}

function chunksOfFile(path: string, text: string): Steps<readonly ChunkDraft[]> | undefined {
  const file = { ...named(path), text }
  const ingester = ingesterFor(file, [])
  return 'chunksOf' in ingester ? ingester.chunksOf?.(file) : undefined
}

/** As the chunker cuts: from some place to the end, nothing left out, and more than one chunk where that is long. */
function isWhole(chunks: readonly Chunk[], content: string): boolean {
  return (
    chunks.at(-1)?.end === content.length &&
    chunks.every(({ start }, at) => at === 0 || isNext(start, chunks[at - 1] as Chunk)) &&
    (chunks.length > 1 || countTokens(content, LONGEST) <= LONGEST)
  )
}

/** A lens may put a first sentence in front of the whole: both begin at one place. */
function isNext(start: number, before: Chunk): boolean {
  return before.start < start && start <= before.end
}

/** Tokens of a single chunk; a longer one was not made by the chunker. */
const LONGEST = 230
