/** The one thing a store holds: an entry, something known; and the chunks it is embedded and word-indexed by. */

import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Audience, PartitionId } from './partition.ts'

/** The store's number of an entry: never reused, never shown. Small enough for bitsets and typed arrays. */
export type EntryKey = number
/** The store's number of a chunk: never reused, never shown. */
export type ChunkKey = number

/** What a writer gives. The store adds keys; the engine fills what is left out before it gets here. */
export interface EntryDraft {
  /** Opaque, 1 to 512 characters; unique for its holder, not for the store, so that a taken id tells nothing. */
  readonly id: string
  readonly collection: string
  /** What sort of thing: `note`, `document`, `code`, `memory`, `belief`, … */
  readonly kind: string
  readonly title: string
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly audience: Audience
  /** Where the content came from (a file URL, say), or null. */
  readonly origin: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** When it holds in the world: `validFrom` included, `validUntil` excluded; null means unbounded. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  /** When this store came to know it; `--known-at` asks the past by it. */
  readonly knownAt: Instant
}

export interface Entry extends EntryDraft {
  readonly key: EntryKey
  readonly partition: PartitionId
  /** Hexadecimal SHA-256 of the content. */
  readonly contentHash: string
}

/** The small part of an entry that orders and caps need. */
export interface EntryIdentity {
  readonly key: EntryKey
  readonly partition: PartitionId
  readonly id: string
  readonly holder: string
  readonly collection: string
  readonly origin: string | null
}

/** When an entry holds; at least one of the bounds is set. */
export interface EntryValidity {
  readonly key: EntryKey
  readonly from: Instant | null
  readonly until: Instant | null
}

/** A span of an entry's content. Offsets are UTF-16 units of `content`, end excluded; lines count from 1. */
export interface ChunkDraft {
  readonly start: number
  readonly end: number
  readonly startLine: number
  readonly endLine: number
  /** Headings above the span, outermost first: part of what is embedded and indexed, not of the content. */
  readonly headings: readonly string[]
  /**
   * Of a span that begins inside a table or fenced code: the header of the table, the line that opens the fence. It is embedded and
   * indexed with the headings, and shown before the text; offsets and lines are those of the span without it. Never empty.
   */
  readonly lead?: string | undefined
  /**
   * Of a span that begins with words to find it by, which its author did not write: where the rest begins, in UTF-16 units from the start of
   * the span. What is before is never shown. `startLine` to `endLine` are lines of the author's file, of the last lines of the span.
   */
  readonly shownFrom?: number | undefined
  /** Where the headings above the text change within the span, ascending by `at`. Absent: nowhere. */
  readonly sections?: readonly ChunkSection[] | undefined
}

export interface ChunkSection {
  /** UTF-16 units from the start of the chunk. */
  readonly at: number
  /** Headings above what follows, outermost first. */
  readonly headings: readonly string[]
}

export interface Chunk extends ChunkDraft {
  readonly key: ChunkKey
  readonly entry: EntryKey
  /** Place among the entry's chunks, from 0. */
  readonly ordinal: number
}

/** What one viewer's questions did to one entry. Kept per viewer, so nobody's questions move another's answers. */
export interface AccessState {
  readonly lastAccessed: Instant
  readonly count: number
  /** 0 or more; grows by use. */
  readonly strength: number
}

/** What is embedded and word-indexed as the title of a chunk: the entry's title, the headings above the chunk, its lead. */
export function chunkTitle(entry: Pick<Entry, 'title'>, chunk: ChunkNames): string {
  return [...namesOf(entry, chunk), leadWords(chunk)].filter(Boolean).join('\n')
}

function namesOf({ title }: Pick<Entry, 'title'>, { headings }: ChunkNames): readonly string[] {
  return [title, ...headings.filter(heading => heading !== title)]
}

/** The lines of the lead that say something: those between the header and the rows of a table do not. */
function leadWords({ lead = '' }: ChunkNames): string {
  return lead
    .split('\n')
    .filter(line => /[\p{L}\p{N}]/u.test(line))
    .join('\n')
}

/** Longest part of a lead that is embedded, in UTF-16 units: about 100 tokens, so that there is room for the text. */
const MAX_EMBEDDED_LEAD = 400

export function embeddedLead(chunk: ChunkNames): string {
  return leadWords(chunk).slice(0, MAX_EMBEDDED_LEAD).toWellFormed()
}

type ChunkNames = Pick<ChunkDraft, 'headings' | 'lead'>

export function chunkText(entry: Pick<Entry, 'content'>, chunk: Pick<ChunkDraft, 'start' | 'end'>): string {
  return entry.content.slice(chunk.start, chunk.end)
}

/**
 * What a chunk is embedded by: its title and its text. A title that was cut off the beginning of the text (it ends in `…`) is
 * not put in front of it; a heading is, also where the text begins with it: why, docs/decisions/011. Depends on title and text
 * alone, by which a put decides whether a chunk keeps its vector. Never empty, which providers refuse: an entry without title
 * and text is known by its id.
 */
export function embeddedText(
  entry: Pick<Entry, 'id' | 'title' | 'content'>,
  chunk: ChunkNames & Pick<ChunkDraft, 'start' | 'end'>,
): string {
  const text = chunkText(entry, chunk)
  const [title = '', ...headings] = namesOf(entry, chunk).filter(Boolean).join('\n').split('\n')
  const lead = embeddedLead(chunk)
  const before = [...(isCutOff(title, text) ? [] : [title]), ...headings, ...(lead === '' ? [] : [lead])]
  return [...before, text].join('\n').trim() || entry.id
}

function isCutOff(title: string, text: string): boolean {
  return title.length > 1 && title.endsWith('…') && text.replace(/^[\s#]+/, '').startsWith(title.slice(0, -1))
}
