/**
 * Pushes a collection of the store to another engine: one collection there for each partition here. What is there
 * already is left alone and what is gone here goes there too, so a run that was stopped is finished by the next one, and
 * a run with nothing to do changes nothing. The target remembers; nothing is kept here.
 */
import { canonicalJson, sha256 } from '../base/canonical.ts'
import { type Chunk, chunkText, chunkTitle, type Entry } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import type { Progress } from '../model/operation.ts'
import { partitionKey } from '../model/partition.ts'
import { recordDate } from '../model/record-date.ts'
import type { Sight } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import { type MirrorLabel, mirrorName, payloadOf } from './mirrored.ts'

export interface MirrorRecord {
  /** Of the record there; one for each chunk, the same every time. */
  readonly id: string
  readonly vector: Float32Array
  /** The whole content, with the entry's first chunk only. */
  readonly document: string | null
  readonly tags: readonly string[]
  readonly payload: Readonly<Record<string, Scalar>>
}

/** One collection there. */
export interface MirrorCollection {
  /** What is there: the stamp by record id. */
  stamps(): Promise<ReadonlyMap<string, string>>
  put(records: readonly MirrorRecord[]): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

export interface MirrorTarget {
  /** Records a call may carry. */
  readonly batch: number
  /** The collection of that name, made when there is none. */
  open(name: string, label: MirrorLabel, dimensions: number): Promise<MirrorCollection>
}

export interface MirrorRequest {
  readonly reader: StoreReader
  /** The owner's: everything in it leaves this store. */
  readonly sight: Sight
  readonly collection: string
  /** Key and dimensions of the vectors to push. */
  readonly model: string
  readonly dimensions: number
  readonly target: MirrorTarget
  readonly signal: AbortSignal
  readonly report?: ((progress: Progress) => void) | undefined
}

export interface MirrorReport {
  /** The collections there. */
  readonly names: readonly string[]
  readonly put: number
  readonly removed: number
  readonly unchanged: number
  /** Chunks that have no vector yet: push again when they have. */
  readonly waiting: number
}

/** Entries read at a time. */
const PAGE = 500

export async function mirror(request: MirrorRequest): Promise<MirrorReport> {
  const { reader, sight, collection, signal } = request
  const filter = { op: 'eq', field: 'collection', value: collection } as const
  const partitions = reader.partitions().filter(({ id }) => sight.partitions.includes(id))
  const total = reader.count(sight, filter)
  const reports: MirrorReport[] = []
  let done = 0
  const step = (entries: number): void => {
    done += entries
    request.report?.({ phase: 'mirror', done, total, current: collection })
  }
  for (const { id, audience } of partitions) {
    signal.throwIfAborted()
    const inside: Sight = { viewer: sight.viewer, partitions: [id] }
    const label = {
      querent_collection: collection,
      querent_partition: partitionKey(audience),
      querent_model: request.model,
    }
    if (reader.count(inside, filter) > 0) reports.push(await mirrorPartition(request, inside, label, step))
  }
  return sum(reports)
}

async function mirrorPartition(
  request: MirrorRequest,
  sight: Sight,
  label: MirrorLabel,
  step: (entries: number) => void,
): Promise<MirrorReport> {
  const { target, dimensions, signal, collection } = request
  const name = mirrorName(collection, label.querent_partition)
  const there = await target.open(name, label, dimensions)
  const stamps = await there.stamps()
  const here = new Set<string>()
  const counts = { put: 0, unchanged: 0, waiting: 0 }
  for (const entries of pages(request.reader, sight, collection)) {
    const records = entries.flatMap(entry => recordsOf(entry, request, counts))
    for (const { id } of records) here.add(id)
    const fresh = records.filter(({ id, payload }) => stamps.get(id) !== payload['querent_stamp'])
    counts.unchanged += records.length - fresh.length
    for (let at = 0; at < fresh.length; at += target.batch) {
      signal.throwIfAborted()
      const batch = fresh.slice(at, at + target.batch)
      await there.put(batch)
      counts.put += batch.length
    }
    step(entries.length)
  }
  const gone = [...stamps.keys()].filter(id => !here.has(id))
  for (let at = 0; at < gone.length; at += target.batch) await there.remove(gone.slice(at, at + target.batch))
  return { names: [name], ...counts, removed: gone.length }
}

function* pages(reader: StoreReader, sight: Sight, collection: string): Generator<readonly Entry[]> {
  const filter = { op: 'eq', field: 'collection', value: collection } as const
  let after: { readonly at: null; readonly id: string; readonly holder: string } | null = null
  for (;;) {
    const entries: readonly Entry[] = reader.list({ sight, filter, order: 'id', limit: PAGE, after })
    const last = entries.at(-1)
    if (last === undefined) return
    yield entries
    after = { at: null, id: last.id, holder: last.audience.holder }
  }
}

function recordsOf(
  entry: Entry,
  { reader, model }: MirrorRequest,
  counts: { waiting: number },
): readonly MirrorRecord[] {
  const chunks = reader.chunksOf(entry.key)
  const vectors = new Map(
    reader
      .vectorsOnly(
        model,
        chunks.map(({ key }) => key),
      )
      .map(one => [one.chunk, one.vector]),
  )
  return chunks.flatMap(chunk => {
    const vector = vectors.get(chunk.key)
    if (vector === undefined) counts.waiting++
    return vector === undefined ? [] : [recordOf(entry, chunk, vector, model)]
  })
}

function recordOf(entry: Entry, chunk: Chunk, vector: Float32Array, model: string): MirrorRecord {
  const { id, audience, title, content, tags, metadata } = entry
  const isHead = chunk.ordinal === 0
  const stamp = sha256(
    canonicalJson([
      ...[id, audience.holder, title, tags, metadata, model],
      ...[chunkTitle(entry, chunk), chunkText(entry, chunk), isHead ? content : null],
    ]),
  ).slice(0, 32)
  const plain = payloadOf({ id, holder: audience.holder, title, tags, metadata }, recordDate(metadata), stamp)
  return {
    id: recordId(id, audience.holder, chunk.ordinal),
    vector,
    document: isHead ? content : null,
    tags,
    payload: { ...plain, querent_head: isHead },
  }
}

/** A UUID, as one engine wants: made of what tells the record apart, so that putting it twice is putting it once. */
function recordId(id: string, holder: string, ordinal: number): string {
  const hex = sha256(canonicalJson([id, holder, ordinal]))
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}

function sum(reports: readonly MirrorReport[]): MirrorReport {
  const add = (pick: (report: MirrorReport) => number): number => reports.reduce((all, report) => all + pick(report), 0)
  return {
    names: reports.flatMap(({ names }) => names),
    put: add(({ put }) => put),
    removed: add(({ removed }) => removed),
    unchanged: add(({ unchanged }) => unchanged),
    waiting: add(({ waiting }) => waiting),
  }
}
