/**
 * Stores the lens's built-in facts as entries of the store, public and held by the owner. They are written by `embedC64`, and by the
 * owner's query if the collection already has other entries, so that facts and entries are ranked together; the owner's query also updates
 * facts that have changed. Otherwise queries use the facts in memory and write nothing.
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

/** Name of the `meta` value of the store that records for which collection, and in which version, the facts were written. */
const VERSION_NAME = 'c64_corpus'

export interface CorpusReport {
  /** Whether this call wrote the facts; false: the store already contained them in the current version. */
  readonly written: boolean
  readonly records: number
}

/** Number of facts written in one transaction, which takes some milliseconds, so that readers and other writers can run in between. */
const RECORDS_AT_ONCE = 50

/**
 * Writes the built-in facts to the store if they are missing or outdated; otherwise only one `meta` value is read. If the writing is
 * interrupted, the next call completes it.
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

/** Whether the store contains built-in facts in this collection, in the current or an earlier version. */
export function hasCorpus(store: Store, collection: string): boolean {
  return store.meta(VERSION_NAME)?.startsWith(`${collection}:`) === true
}

/** Whether the collection contains any entries that the owner can see. */
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
 * Built-in facts that the store contains, with the given ids or, by default, all. Entries written by users are not among them, because they
 * have another holder, kind or id.
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

/** Whether an entry is one of the built-in facts of this lens. */
export function isFact({ id, kind, audience: of }: Pick<Entry, 'id' | 'kind' | 'audience'>): boolean {
  return kind === CORPUS_KIND && id.startsWith(ID_START) && of.holder === OWNER
}

/** Beginning of the ids of all built-in facts. */
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
    // Results with one origin (such as parts of one document) are shown together at one position of an answer. A fact has no origin, so it
    // always gets a position of its own.
    origin: null,
    validFrom: null,
    validUntil: null,
  }
}

/**
 * Splits a fact into chunks. Its first sentence, which says what the fact is about, is also a chunk of its own, because the details that
 * follow would blur the sentence's vector. The effect was measured (bench c64).
 */
function chunksOf(content: string): readonly ChunkDraft[] {
  const whole = chunkContent(content, { format: 'plain' })
  const first = content.indexOf('. ') + 1
  if (first === 0) return whole
  return [{ start: 0, end: first, startLine: 1, endLine: 1, headings: [] }, ...whole]
}

type DatedField = 'createdAt' | 'updatedAt' | 'knownAt'

/** The built-in facts and their version, made once per process in some milliseconds; null: not made yet. */
let made: { readonly records: readonly DomainRecord[]; readonly version: string } | null = null

function corpus(): NonNullable<typeof made> {
  if (made === null) {
    const records = c64Corpus()
    made = { records, version: corpusVersion(records) }
  }
  return made
}
