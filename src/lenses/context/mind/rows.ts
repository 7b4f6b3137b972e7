/**
 * Writes concepts, links, and the record of the files they come from, for calls and for the indexer. Everything runs within a write
 * transaction.
 */
import type { Instant } from '../../../base/clock.ts'
import type { ChunkDraft, EntryDraft, EntryKey } from '../../../model/entry.ts'
import type { Audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { nextNumbers, sequenceOf } from '../counters.ts'
import { plainWordsOf, tailOf } from '../names.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'

export const CONCEPT_KIND = 'concept'
const CONCEPT_COLLECTION = 'concepts'
/** Type of a user's own notes, which are kept when the concept they are about is deleted (CX-066). */
export const NOTE = 'Caveat'

export interface ConceptDraft {
  readonly name: string
  readonly type: string
  /** URL of the file that contains the concept, and its first and last line there; null where unknown. */
  readonly url?: string | null
  readonly startLine?: number | null
  readonly endLine?: number | null
  readonly signature?: string | null
  readonly doc?: string | null
  readonly symbol?: string | null
  /** First lines of the concept's source text, which are embedded. */
  readonly text?: string | null
}

export interface ConceptAt {
  readonly id: number
  readonly entry: EntryKey
  /** Audience (who sees the concept), where the caller already knows it. */
  readonly audience?: Audience
}

interface EdgeDraft {
  readonly source: ConceptAt
  readonly target: ConceptAt
  readonly relation: string
  readonly weight: number
  /** URL of the file out of which a patch read the concept. */
  readonly origin?: string | undefined
}

/** Number of lines of a concept's source text that are embedded. */
export const MAX_TEXT_LINES = 12
const MAX_TEXT = 600

/** The content of a concept's entry, by which searches by words and meaning find it; the title is the concept's name (CX-024). */
export function conceptText(draft: ConceptDraft): string {
  return joined([...namesOf(draft), draft.doc ?? '', ownLinesOf(draft)])
}

function namesOf({ name, type, url }: ConceptDraft): readonly string[] {
  return [plainWordsOf(name).join(' '), type, url === undefined || url === null ? '' : tailOf(url)]
}

/** The first lines of the concept as they are in its file; its signature where they are unknown. */
function ownLinesOf({ text, signature }: ConceptDraft): string {
  const lines = (text ?? '').split('\n').slice(0, MAX_TEXT_LINES).join('\n').slice(0, MAX_TEXT).toWellFormed()
  return (lines.trim() === '' ? (signature ?? '') : lines).trim()
}

function joined(parts: readonly string[]): string {
  return parts
    .map(part => part.trim())
    .filter(part => part !== '')
    .join('\n')
}

/**
 * The single passage of a concept's entry. Its line numbers are those in the file; the names in front of the source text serve only to find
 * it.
 */
function chunkOf(draft: ConceptDraft, content: string): ChunkDraft {
  const names = joined(namesOf(draft)).length
  const startLine = draft.startLine ?? 1
  return {
    ...{ start: 0, end: content.length, startLine, headings: [] },
    endLine: startLine + ownLinesOf(draft).split('\n').length - 1,
    ...(names < content.length && { shownFrom: names + 1 }),
  }
}

interface ConceptPlacing {
  readonly audience: Audience
  readonly now: Instant
  readonly before?: ConceptAt | undefined
  /** Id that was reserved for the concept; without it, the next number is used. */
  readonly id?: number | undefined
}

/** Writes a concept under a new id, or in place of the concept `before`. */
export function putConcept(writer: StoreWriter, draft: ConceptDraft, of: ConceptPlacing): ConceptAt {
  const { audience, now, before } = of
  const id = before?.id ?? of.id ?? nextNumbers(writer, 'concept', 1, sequenceOf(writer, [audience]))
  const content = conceptText(draft)
  const old = before === undefined ? undefined : writer.entry(before.entry)
  const entry: EntryDraft = {
    id: old?.id ?? `concept:${id}`,
    collection: CONCEPT_COLLECTION,
    kind: CONCEPT_KIND,
    title: draft.name,
    content,
    tags: [],
    metadata: { concept: id, type: draft.type },
    audience,
    origin: draft.url ?? null,
    createdAt: old?.createdAt ?? now,
    updatedAt: old?.content === content ? old.updatedAt : now,
    validFrom: null,
    validUntil: null,
    knownAt: old !== undefined && old.content === content ? old.knownAt : now,
  }
  const { key } = writer.put(entry, [chunkOf(draft, content)])
  const at = { id, entry: key, audience }
  writer.table(CONCEPTS).put(conceptRow(draft, at))
  writer.announce(key)
  return at
}

export function conceptRow(draft: ConceptDraft, { id, entry }: ConceptAt): Row {
  return {
    entry,
    id,
    name: draft.name,
    type: draft.type,
    url: draft.url ?? null,
    start_line: draft.startLine ?? null,
    end_line: draft.endLine ?? null,
    signature: draft.signature ?? null,
    doc: draft.doc ?? null,
    symbol: draft.symbol ?? null,
  }
}

/** Deletes a concept together with the links from and to it and the record of its files (CX-055). */
export function deleteConcept(writer: StoreWriter, { id, entry }: ConceptAt): void {
  for (const source of sourcesOf(writer, id)) writer.announce(source)
  writer.table(EDGES).delete({ target: id })
  // Deleting the entry also deletes the links that start at the concept and the record of its files.
  writer.delete(entry)
}

export function putEdge(writer: StoreWriter, edge: EdgeDraft, known?: number): number {
  const { source, target, relation, weight, origin = null } = edge
  const id = known ?? nextNumbers(writer, 'edge', 1, sequenceOf(writer, audiencesOf(writer, [source, target])))
  writer.table(EDGES).put({ id, entry: source.entry, source: source.id, target: target.id, relation, weight, origin })
  writer.announce(source.entry)
  return id
}

function audiencesOf(reader: StoreReader, concepts: readonly ConceptAt[]): readonly Audience[] {
  const unknown = concepts.filter(({ audience }) => audience === undefined).map(({ entry }) => entry)
  const read = unknown.length === 0 ? [] : reader.entries([...new Set(unknown)]).map(entry => entry.audience)
  return [...read, ...concepts.flatMap(({ audience }) => audience ?? [])]
}

export function deleteEdge(writer: StoreWriter, id: number, entry: EntryKey): void {
  writer.table(EDGES).delete({ id })
  writer.announce(entry)
}

/** Records that a concept comes from a file; does nothing when this is recorded already. */
export function putProvenance(writer: StoreWriter, { id, entry }: ConceptAt, url: string): void {
  writer.table(PROVENANCE).put({ entry, concept: id, url })
}

function sourcesOf(reader: StoreReader, target: number): ReadonlySet<EntryKey> {
  const rows = reader.table(EDGES).scan({ target }, { columns: ['entry'] })
  return new Set(rows.map(row => row['entry'] as EntryKey))
}
