/**
 * The lens's facts as entries of the store, public and held by the owner. They are written by `embedC64`, and also by the owner's query if
 * the collection has other entries, because both are ranked together. The owner's query writes them again when a fact has changed. With any
 * other store, queries use the facts in memory and write nothing.
 */
import type { Instant } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns.ts'
import type { ChunkDraft, Entry, EntryDraft } from '../../model/entry.ts'
import { audience, OWNER } from '../../model/partition.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { chunkContent } from '../../text/chunk.ts'
import type { LensHost } from '../lens.ts'
import { c64Corpus, corpusVersion } from './corpus.ts'
import type { DomainRecord } from './enrichment/plugin.ts'

export const CORPUS_KIND = 'fact'

/** Name of the `meta` value that says which facts the store contains. */
const VERSION_NAME = 'c64_corpus'

export interface CorpusReport {
  /** Whether the facts were written by this call; false: they were already in the store. */
  readonly written: boolean
  readonly records: number
}

/** Records written in one transaction. It takes some milliseconds, so readers and other writers can run in between. */
const RECORDS_AT_ONCE = 50

/**
 * Writes the facts if they are not in the store yet; otherwise it only reads one `meta` value. After an interruption, the next call writes
 * the missing facts.
 */
export async function keepCorpus(store: Store, collection: string, now: Instant): Promise<CorpusReport> {
  const { records, version } = corpus()
  const wanted = `${collection}:${version}`
  if (store.meta(VERSION_NAME) === wanted) return { written: false, records: records.length }
  for (let at = 0; at < records.length; at += RECORDS_AT_ONCE) {
    const some = records.slice(at, at + RECORDS_AT_ONCE)
    await store.writeWhenFree(now, writer => writeSome(writer, collection, some, now))
    await nextTurn()
  }
  await store.writeWhenFree(now, writer => {
    const ids = new Set(records.map(({ id }) => id))
    for (const [id, { key }] of factsOfOurs(writer)) if (!ids.has(id)) writer.delete(key)
    writer.setMeta(VERSION_NAME, wanted)
  })
  return { written: true, records: records.length }
}

/** Whether the store contains facts of this collection, in the current version or an earlier one. */
export function hasCorpus(store: Store, collection: string): boolean {
  return store.meta(VERSION_NAME)?.startsWith(`${collection}:`) === true
}

/** Whether the owner can see entries of any kind in the collection. */
export function holdsEntries(
  { store, accessScope }: Pick<LensHost, 'store' | 'accessScope'>,
  collection: string,
): boolean {
  return store.count(accessScope(LOCAL_OWNER), { op: 'eq', field: 'collection', value: collection }) > 0
}

function writeSome(writer: StoreWriter, collection: string, records: readonly DomainRecord[], now: Instant): void {
  const before = factsOfOurs(
    writer,
    records.map(({ id }) => id),
  )
  for (const record of records) {
    const known = before.get(record.id)
    const createdAt = known?.createdAt ?? now
    const draft = { ...draftOf(record, collection), createdAt, updatedAt: now, knownAt: known?.knownAt ?? now }
    writer.put(draft, chunksOf(draft.content))
  }
}

type Known = Pick<EntryDraft, 'createdAt' | 'knownAt'> & { readonly key: number }

/**
 * Facts written earlier, with these ids or (by default) all. Entries of the user are not among them: they have another holder, kind or id.
 */
function factsOfOurs(writer: StoreWriter, ids?: readonly string[]): ReadonlyMap<string, Known> {
  const partitions = writer.partitions().map(({ id }) => id)
  const accessScope = { viewer: { id: OWNER }, partitions }
  const ofKind = { op: 'eq', field: 'kind', value: CORPUS_KIND } as const
  const keys =
    ids === undefined ? [...writer.matching(accessScope, ofKind)] : ids.flatMap(id => writer.find(id, partitions))
  const entries = writer.entries(keys).filter(isFact)
  return new Map(entries.map(entry => [entry.id, entry]))
}

/** Whether an entry is one of the lens's own facts. */
export function isFact({ id, kind, audience: of }: Pick<Entry, 'id' | 'kind' | 'audience'>): boolean {
  return kind === CORPUS_KIND && id.startsWith(ID_START) && of.holder === OWNER
}

/** Beginning of the id of each fact. */
const ID_START = 'c64:'

function draftOf({ id, title, type, text, tags }: DomainRecord, collection: string): Omit<EntryDraft, DatedField> {
  return {
    id,
    collection,
    kind: CORPUS_KIND,
    title,
    content: text,
    tags,
    metadata: { type },
    audience: audience('public', OWNER),
    // In answers of other lenses, entries of one origin share a position. A fact has no origin, so it always has its own position.
    origin: null,
    validFrom: null,
    validUntil: null,
  }
}

/**
 * The first sentence says what the fact is about. It is a chunk of its own, before the whole text, because the bits, cycles and names that
 * follow would blur its vector. Measured: bench c64.
 */
function chunksOf(content: string): readonly ChunkDraft[] {
  const whole = chunkContent(content, { format: 'plain' })
  const first = content.indexOf('. ') + 1
  if (first === 0) return whole
  return [{ start: 0, end: first, startLine: 1, endLine: 1, headings: [] }, ...whole]
}

type DatedField = 'createdAt' | 'updatedAt' | 'knownAt'

/** Made once per process; takes some milliseconds. */
let made: { readonly records: readonly DomainRecord[]; readonly version: string } | null = null

function corpus(): NonNullable<typeof made> {
  if (made === null) {
    const records = c64Corpus()
    made = { records, version: corpusVersion(records) }
  }
  return made
}
