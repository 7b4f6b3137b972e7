/**
 * The facts as entries of the store. They are written there by `embedC64`, and by a query of the owner where the collection
 * holds other entries, since both are ranked together; a query of the owner writes them again when any of them has changed.
 * They are public and held by the owner. In any other store, queries are answered from facts in memory and write nothing.
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

/** Which facts the store holds. */
const VERSION_NAME = 'c64_corpus'

export interface CorpusReport {
  /** False: they were there. */
  readonly written: boolean
  readonly records: number
}

/** Records written in one transaction: some milliseconds, so that readers and other writers have their turn between. */
const RECORDS_AT_ONCE = 50

/** Costs a look at one text where they are there. Where it is interrupted, the next call writes what is missing. */
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

/** Whether the store holds facts of this collection, of this version or an earlier one. */
export function hasCorpus(store: Store, collection: string): boolean {
  return store.meta(VERSION_NAME)?.startsWith(`${collection}:`) === true
}

/** Whether the owner has entries of its own in the collection. */
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
 * Facts that were written before, of these ids or (by default) of all: a user's own entries have another holder, kind or
 * id.
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

/** Whether it is one of the lens's own facts. */
export function isFact({ id, kind, audience: of }: Pick<Entry, 'id' | 'kind' | 'audience'>): boolean {
  return kind === CORPUS_KIND && id.startsWith(ID_START) && of.holder === OWNER
}

/** Of every record's id. */
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
    // Entries of one origin share a place in other lenses' answers; each of these stands for itself.
    origin: null,
    validFrom: null,
    validUntil: null,
  }
}

/**
 * What it is, in its first sentence, has a chunk of its own before the whole: bits, cycles and other names that follow
 * would blur what it means. Measured: bench c64.
 */
function chunksOf(content: string): readonly ChunkDraft[] {
  const whole = chunkContent(content, { format: 'plain' })
  const first = content.indexOf('. ') + 1
  if (first === 0) return whole
  return [{ start: 0, end: first, startLine: 1, endLine: 1, headings: [] }, ...whole]
}

type DatedField = 'createdAt' | 'updatedAt' | 'knownAt'

/** Made once a process: some milliseconds. */
let made: { readonly records: readonly DomainRecord[]; readonly version: string } | null = null

function corpus(): NonNullable<typeof made> {
  if (made === null) {
    const records = c64Corpus()
    made = { records, version: corpusVersion(records) }
  }
  return made
}
