/**
 * The contents of a store: entries, each of which is one piece of knowledge; and their chunks, the pieces of text for which vectors and
 * word indexes are made.
 */

import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Audience, PartitionId } from './partition.ts'

/**
 * The store's number of an entry; never reused, and never shown outside the engine. Numbers are small enough for bitsets and typed arrays.
 */
export type EntryKey = number
/** The store's number of a chunk; never reused, and never shown outside the engine. */
export type ChunkKey = number

/** The fields of an entry as it is handed to the store, after the engine has filled in what the writer left out; the store adds keys. */
export interface EntryDraft {
  /**
   * Id chosen by the writer, 1 to 512 characters. It is unique among the entries of its holder, not in the store, so that a conflict of ids
   * reveals nothing about other holders.
   */
  readonly id: string
  readonly collection: string
  /** Kind of entry: `note`, `document`, `code`, `memory`, `belief`, … */
  readonly kind: string
  readonly title: string
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly audience: Audience
  /** Where the content came from (such as a file URL), or null. */
  readonly origin: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** The period for which the entry is true: from `validFrom` on, and before `validUntil`; null: no bound. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  /** When this store learned of the entry; the option `--known-at` queries what was known at an earlier time. */
  readonly knownAt: Instant
}

export interface Entry extends EntryDraft {
  readonly key: EntryKey
  readonly partition: PartitionId
  /** SHA-256 of the content, in hexadecimal. */
  readonly contentHash: string
}

/** The fields of an entry that are needed to order results and to limit the number of results of a collection or origin. */
export interface EntryIdentity {
  readonly key: EntryKey
  readonly partition: PartitionId
  readonly id: string
  readonly holder: string
  readonly collection: string
  readonly origin: string | null
}

/** The period for which an entry is true, for entries with at least one bound. */
export interface EntryValidity {
  readonly key: EntryKey
  readonly from: Instant | null
  readonly until: Instant | null
}

/**
 * A chunk before it is stored: the span `start` to `end` (excluded) of an entry's content, in UTF-16 units, with its lines from 1. Chunks
 * are the units that are embedded and indexed.
 */
export interface ChunkDraft {
  readonly start: number
  readonly end: number
  readonly startLine: number
  readonly endLine: number
  /** Headings above the span, outermost first: embedded and indexed with it, but not part of its content. */
  readonly headings: readonly string[]
  /**
   * For a chunk that begins inside a table or fenced code: the header of the table, or the line that opens the fence. It is embedded and
   * indexed with the headings and shown before the text, but offsets and lines do not include it. Never the empty text.
   */
  readonly lead?: string | undefined
  /**
   * For a chunk that begins with words which its author did not write and which only help to find it: the offset in UTF-16 units, from the
   * start of the chunk, at which the shown text begins. `startLine` to `endLine` are then the lines of the author's file for the shown
   * text.
   */
  readonly shownFrom?: number | undefined
  /** Places within the chunk where the headings above the text change, ascending by `at`; absent: they do not change. */
  readonly sections?: readonly ChunkSection[] | undefined
}

export interface ChunkSection {
  /** Offset in UTF-16 units, from the start of the chunk, from which these headings apply. */
  readonly at: number
  /** Headings above the text from that offset on, outermost first. */
  readonly headings: readonly string[]
}

export interface Chunk extends ChunkDraft {
  readonly key: ChunkKey
  readonly entry: EntryKey
  /** Index of the chunk among those of its entry, from 0. */
  readonly ordinal: number
}

/**
 * How often, how recently and how strongly one viewer has used one entry. Kept for each viewer, so that one viewer's queries do not change
 * another's answers.
 */
export interface AccessState {
  readonly lastAccessed: Instant
  readonly count: number
  /** How strongly the entry's use is remembered, at least 0; each use adds to it. */
  readonly strength: number
}

/**
 * The title with which a chunk is embedded and indexed: the entry's title, the headings above the chunk, and the words of its lead (the
 * table header or opening of fenced code that belongs to it).
 */
export function chunkTitle(entry: Pick<Entry, 'title'>, chunk: ChunkNames): string {
  return [...namesOf(entry, chunk), leadWords(chunk)].filter(Boolean).join('\n')
}

function namesOf({ title }: Pick<Entry, 'title'>, { headings }: ChunkNames): readonly string[] {
  return [title, ...headings.filter(heading => heading !== title)]
}

/**
 * Lines of a chunk's lead (the table header or opening of fenced code that belongs to it) that contain letters or digits. The line of
 * dashes between a table's header and its rows is left out.
 */
function leadWords({ lead = '' }: ChunkNames): string {
  return lead
    .split('\n')
    .filter(line => /[\p{L}\p{N}]/u.test(line))
    .join('\n')
}

/**
 * Longest part of a chunk's lead (table header or opening of fenced code) that is embedded, in UTF-16 units: about 100 tokens, so that the
 * text itself has room.
 */
const MAX_EMBEDDED_LEAD = 400

export function embeddedLead(chunk: ChunkNames): string {
  return leadWords(chunk).slice(0, MAX_EMBEDDED_LEAD).toWellFormed()
}

type ChunkNames = Pick<ChunkDraft, 'headings' | 'lead'>

export function chunkText(entry: Pick<Entry, 'content'>, chunk: Pick<ChunkDraft, 'start' | 'end'>): string {
  return entry.content.slice(chunk.start, chunk.end)
}

/**
 * The text from which a chunk's vector is made: its title, headings and text. A title that was cut from the beginning of the text (it ends
 * in `…`) is not repeated; headings are always included (reasons: docs/decisions/011). It depends on titles and text alone, so that a write
 * can decide whether a chunk keeps its vector. It is never empty, which providers refuse: an entry without title and text is embedded by
 * its id.
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
