/**
 * The facts as entries of the store: written when they are first asked for, written again when any of them changes.
 * Public and held by the owner: everybody who asks this lens needs them, and there is nothing in them to hide.
 */
import type { Instant } from '../../../base/clock.ts'
import type { ChunkDraft, EntryDraft } from '../../../model/entry.ts'
import { audience, OWNER } from '../../../model/partition.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import type { DomainRecord } from '../enrichment/domain.ts'
import { c64Corpus, corpusVersion } from './corpus.ts'

export const CORPUS_KIND = 'fact'

/** Which facts the store holds. */
const VERSION_NAME = 'c64_corpus'

export interface CorpusReport {
  /** False: they were there. */
  readonly written: boolean
  readonly records: number
}

/** Costs a look at one text where they are there. */
export function keepCorpus(store: Store, collection: string, now: Instant): CorpusReport {
  const { records, version } = corpus()
  const wanted = `${collection}:${version}`
  if (store.meta(VERSION_NAME) === wanted) return { written: false, records: records.length }
  return store.write(now, writer => {
    // Another process may have been quicker.
    if (writer.meta(VERSION_NAME) === wanted) return { written: false, records: records.length }
    writeAll(writer, collection, records, now)
    writer.setMeta(VERSION_NAME, wanted)
    return { written: true, records: records.length }
  })
}

function writeAll(writer: StoreWriter, collection: string, records: readonly DomainRecord[], now: Instant): void {
  const everywhere = writer.partitions().map(({ id }) => id)
  const before = factsOfOurs(writer, everywhere)
  for (const record of records) {
    const known = before.get(record.id)
    const createdAt = known?.createdAt ?? now
    const draft = { ...draftOf(record, collection), createdAt, updatedAt: now, knownAt: known?.knownAt ?? now }
    writer.put(draft, chunksOf(draft.content))
  }
  const ids = new Set(records.map(({ id }) => id))
  for (const [id, { key }] of before) if (!ids.has(id)) writer.delete(key)
}

type Known = Pick<EntryDraft, 'createdAt' | 'knownAt'> & { readonly key: number }

/** What an earlier version wrote, told from a user's own entries by holder, kind and id. */
function factsOfOurs(writer: StoreWriter, partitions: readonly number[]): ReadonlyMap<string, Known> {
  const sight = { viewer: { id: OWNER }, partitions }
  const keys = writer.matching(sight, { op: 'eq', field: 'kind', value: CORPUS_KIND })
  const entries = writer
    .entries([...keys])
    .filter(({ id, audience: of }) => id.startsWith(ID_START) && of.holder === OWNER)
  return new Map(entries.map(entry => [entry.id, entry]))
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
