/**
 * Mirrors a collection of the store to another search engine (the target): one collection there for each partition here. A run compares the
 * target's records with the store and transfers the difference, so an interrupted run is completed by the next one, and a run without
 * differences changes nothing. All state is read from the target.
 */
import type { Entry } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import type { Progress } from '../model/operation.ts'
import { type Audience, losesReaders, partitionKey } from '../model/partition.ts'
import type { AccessScope } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import { RecordsRefused, SourceFailure } from './failure.ts'
import { chunkRecords, type MirrorRecord } from './mirror-records.ts'
import { entryKey, type MirrorLabel, mirrorName, type RecordThere } from './mirrored.ts'

/** A mirrored collection in the target engine. */
export interface MirrorCollection {
  /**
   * The label (metadata) with which the collection in the target describes itself; members may be missing in a label written by another
   * store or an earlier version.
   */
  readonly label: Partial<MirrorLabel>
  /** Reads the collection's records in the target, by record id. */
  records(): Promise<ReadonlyMap<string, RecordThere>>
  /**
   * Inserts records into the target's collection, replacing existing ones completely. Throws `RecordsRefused` where the server refuses a
   * record; then any of the other records may have been written or not.
   */
  put(records: readonly MirrorRecord[]): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

export interface MirrorTarget {
  /** Largest number of records in one call of `put`. */
  readonly batch: number
  /** The target's collection of this name; null when there is none. */
  find(name: string, dimensions: number): Promise<MirrorCollection | null>
  /** The target's collection of this name, created when there is none. */
  open(name: string, label: MirrorLabel, dimensions: number): Promise<MirrorCollection>
}

export interface MirrorRequest {
  /** Reads the store that is mirrored; its `storeId` is written into the records. */
  readonly reader: StoreReader
  /** The access scope of the store's owner: all entries in it are copied to the target. */
  readonly accessScope: AccessScope
  readonly collection: string
  /** Identifies the embedding model whose vectors are copied (its key is a name, no secret). `dimensions`: size of these vectors. */
  readonly model: string
  readonly dimensions: number
  readonly target: MirrorTarget
  readonly signal: AbortSignal
  readonly report?: ((progress: Progress) => void) | undefined
}

export interface RefusedRecord {
  /** Id of the entry to which the refused record belongs. */
  readonly id: string
  readonly holder: string
  /** Why the record was refused, in the server's words. */
  readonly reason: string
}

export interface MirrorReport {
  /** Names of the target's collections that belong to this store. */
  readonly names: readonly string[]
  readonly put: number
  readonly removed: number
  readonly unchanged: number
  /** Number of chunks that have no vector yet; a later run copies them. */
  readonly waiting: number
  /** Records that the server refused. The target keeps its earlier records of these entries. */
  readonly refused: readonly RefusedRecord[]
  /** Names of the target's collections that this store needs but that contain another store's records; they were left unchanged. */
  readonly taken: readonly string[]
  /**
   * Names of the target's collections whose label names no store (as written by earlier versions), and that contain records unknown to this
   * store. They were left unchanged. Those that this store needs are in `taken` too.
   */
  readonly unowned: readonly string[]
}

/** Number of entries of the store that are read at once. */
const PAGE = 500
/** Number of records refused in a row after which the run gives up, since the cause can then hardly be the records. */
const MAX_REFUSED_IN_A_ROW = 1_000

export function mirror(request: MirrorRequest): Promise<MirrorReport> {
  return new MirrorRun(request).run()
}

/** A partition of the store, and the collection in the target to which it is mirrored. */
interface Place {
  readonly audience: Audience
  /** Access rights of the store's owner, limited to this partition. */
  readonly accessScope: AccessScope
  readonly name: string
  readonly label: MirrorLabel
  /** Number of entries of the mirrored collection in the partition. */
  readonly count: number
  /** The collection in the target; null: it does not exist yet. */
  readonly there: MirrorCollection | null
  /** The records that the target's collection contains, by record id, without those that this run has removed. */
  readonly records: Map<string, RecordThere>
  ownership: 'own' | 'other' | 'unknown'
}

class MirrorRun {
  readonly #request: MirrorRequest
  readonly #filter: Filter
  /** For each partition that was copied, the ids of the records that its collection in the target must contain. */
  readonly #here = new Map<Place, Set<string>>()
  /**
   * Keys of entries whose current records could not all be written, because one was refused or has no vector yet. The target keeps its
   * earlier records of these entries.
   */
  readonly #unaccepted = new Set<string>()
  readonly #refused: RefusedRecord[] = []
  readonly #counts = { put: 0, removed: 0, unchanged: 0, waiting: 0 }
  readonly #total: number
  #refusedInARow = 0
  #done = 0

  constructor(request: MirrorRequest) {
    this.#request = request
    this.#filter = { op: 'eq', field: 'collection', value: request.collection }
    this.#total = request.reader.count(request.accessScope, this.#filter)
  }

  async run(): Promise<MirrorReport> {
    const places = await this.#survey()
    const own = places.filter(({ ownership }) => ownership === 'own')
    // First, records that someone who can read the target may no longer see are removed, before anything is written; all other outdated
    // records are removed only after the target has accepted their replacements.
    for (const place of own) await this.#remove(place, this.#nowHidden(place))
    for (const place of own) if (place.count > 0) await this.#push(place)
    for (const place of places) if (place.ownership !== 'own') this.#keepMoved(place)
    for (const place of own) await this.#remove(place, this.#gone(place))
    const namesOf = (chosen: readonly Place[]): readonly string[] => chosen.map(({ name }) => name)
    return {
      names: namesOf(places.filter(({ ownership }) => ownership === 'own')),
      ...this.#counts,
      refused: this.#refused,
      taken: namesOf(places.filter(({ ownership, count }) => ownership !== 'own' && count > 0)),
      unowned: namesOf(places.filter(({ ownership }) => ownership === 'unknown')),
    }
  }

  /** The partitions to compare: those with entries in this store or with a collection in the target. */
  async #survey(): Promise<readonly Place[]> {
    const { reader, accessScope, collection, model, dimensions, target, signal } = this.#request
    const places: Place[] = []
    for (const { id, audience } of reader.partitions()) {
      if (!accessScope.partitions.includes(id)) continue
      signal.throwIfAborted()
      const key = partitionKey(audience)
      const name = mirrorName(collection, key)
      const label = {
        querent_collection: collection,
        querent_partition: key,
        querent_model: model,
        querent_store: reader.storeId,
      }
      const inside: AccessScope = { viewer: accessScope.viewer, partitions: [id] }
      const count = reader.count(inside, this.#filter)
      const there = await target.find(name, dimensions)
      if (there === null && count === 0) continue
      const records = new Map(await there?.records())
      const ownership = this.#ownershipOf(there?.label ?? label, records)
      places.push({ audience, accessScope: inside, name, label, count, there, records, ownership })
    }
    return places
  }

  #ownershipOf(label: Partial<MirrorLabel>, records: ReadonlyMap<string, RecordThere>): Place['ownership'] {
    const { storeId } = this.#request.reader
    const stores = new Set([label.querent_store ?? null, ...[...records.values()].map(({ store }) => store)])
    stores.delete(null)
    if (stores.size > 1 || (stores.size === 1 && !stores.has(storeId))) return 'other'
    if (stores.size === 1 || records.size === 0) return 'own'
    return this.#isRecognised(records) ? 'own' : 'unknown'
  }

  /**
   * Whether a collection whose label names no store (as written by earlier versions) belongs to this store: each record is of an entry in
   * this store, and at least half of the records equal what would be written now.
   */
  #isRecognised(records: ReadonlyMap<string, RecordThere>): boolean {
    const stamps = new Map<string, ReadonlyMap<string, string>>()
    let equal = 0
    for (const [recordId, { id, holder, stamp }] of records) {
      if (id === null || holder === null) return false
      const key = entryKey(holder, id)
      let known = stamps.get(key)
      if (known === undefined) {
        const entry = this.#entryNamed(id, holder, this.#request.accessScope)
        if (entry === null) return false
        known = new Map(chunkRecords(entry, this.#request).map(one => [one.id, one.stamp]))
        stamps.set(key, known)
      }
      if (known.get(recordId) === stamp) equal++
    }
    return equal * 2 >= records.size
  }

  #entryNamed(id: string, holder: string, accessScope: AccessScope): Entry | null {
    const { reader } = this.#request
    const keys = reader.find(id, accessScope.partitions)
    const { key } = reader.identities(keys).find(one => one.holder === holder) ?? {}
    return key === undefined ? null : (reader.entries([key])[0] ?? null)
  }

  /** Ids of the target's records whose entry some reader of this partition's collection may no longer see. */
  #nowHidden({ records, accessScope, audience }: Place): readonly string[] {
    const { reader } = this.#request
    const hidden = new Map<string, boolean>()
    const isHidden = (id: string, holder: string): boolean => {
      if (reader.identities(reader.find(id, accessScope.partitions)).some(one => one.holder === holder)) return false
      const entry = this.#entryNamed(id, holder, this.#request.accessScope)
      return entry !== null && losesReaders(audience, entry.audience)
    }
    return [...records].flatMap(([recordId, { id, holder }]) => {
      if (id === null || holder === null) return []
      const key = entryKey(holder, id)
      const known = hidden.get(key) ?? isHidden(id, holder)
      hidden.set(key, known)
      return known ? [recordId] : []
    })
  }

  async #push(place: Place): Promise<void> {
    const { target, dimensions, signal, reader } = this.#request
    const there = place.there ?? (await target.open(place.name, place.label, dimensions))
    if ((there.label.querent_store ?? reader.storeId) !== reader.storeId) {
      // Since the first look at the target, another store has created a collection of this name.
      place.ownership = 'other'
      return
    }
    const here = new Set<string>()
    for (const entries of this.#pages(place.accessScope)) {
      const records = entries.flatMap(entry => this.#recordsOf(entry, place, here))
      const fresh = records.filter(({ id, stamp }) => {
        const known = place.records.get(id)
        return known === undefined || known.stamp !== stamp || known.store !== reader.storeId
      })
      this.#counts.unchanged += records.length - fresh.length
      for (const batch of inBatches(fresh, target.batch)) {
        signal.throwIfAborted()
        await this.#put(there, batch)
      }
      this.#step(entries.length)
    }
    this.#here.set(place, here)
  }

  /**
   * Notes that the records of these entries could not be written to the target, because the collection to which they now belong is another
   * store's. Their earlier records in other collections of the target are then kept.
   */
  #keepMoved({ accessScope, count }: Place): void {
    if (count === 0) return
    for (const entries of this.#pages(accessScope)) {
      for (const { id, audience } of entries) this.#unaccepted.add(entryKey(audience.holder, id))
    }
  }

  *#pages(accessScope: AccessScope): Generator<readonly Entry[]> {
    const { reader } = this.#request
    let after: { readonly at: null; readonly id: string; readonly holder: string } | null = null
    for (;;) {
      const entries: readonly Entry[] = reader.list({
        accessScope,
        filter: this.#filter,
        order: 'id',
        limit: PAGE,
        after,
      })
      const last = entries.at(-1)
      if (last === undefined) return
      yield entries
      after = { at: null, id: last.id, holder: last.audience.holder }
    }
  }

  /**
   * Makes the entry's records for the target, except those whose chunk has no vector yet. The ids of all records, including those without a
   * vector, are added to `here`.
   */
  #recordsOf(entry: Entry, { records }: Place, here: Set<string>): readonly MirrorRecord[] {
    const { reader, model } = this.#request
    const made = chunkRecords(entry, this.#request)
    const keys = made.map(({ chunk }) => chunk)
    const vectors = new Map(reader.vectorsOnly(model, keys).map(({ chunk, vector }) => [chunk, vector]))
    return made.flatMap(({ chunk, ...record }) => {
      here.add(record.id)
      const vector = vectors.get(chunk)
      if (vector !== undefined) return [{ ...record, vector, replaces: records.has(record.id) }]
      this.#counts.waiting++
      this.#unaccepted.add(entryKey(entry.audience.holder, entry.id))
      return []
    })
  }

  /** Writes records to the target. A batch that the server refuses is split in halves, until the refused records are alone. */
  async #put(there: MirrorCollection, records: readonly MirrorRecord[]): Promise<void> {
    const [first] = records
    if (first === undefined) return
    this.#request.signal.throwIfAborted()
    try {
      await there.put(records)
      this.#counts.put += records.length
      this.#refusedInARow = 0
    } catch (thrown) {
      if (!(thrown instanceof RecordsRefused)) throw thrown
      if (records.length === 1) return this.#refuse(first, thrown)
      const half = Math.ceil(records.length / 2)
      await this.#put(there, records.slice(0, half))
      await this.#put(there, records.slice(half))
    }
  }

  #refuse({ entry: { id, holder } }: MirrorRecord, { message }: RecordsRefused): void {
    this.#refused.push({ id, holder, reason: message })
    this.#unaccepted.add(entryKey(holder, id))
    if (++this.#refusedInARow < MAX_REFUSED_IN_A_ROW) return
    const problem = `the server refused ${MAX_REFUSED_IN_A_ROW} records in a row, the last of them "${id}"`
    throw new SourceFailure('query_failed', `${problem}: ${message}`)
  }

  /**
   * Ids of records in the target that this store no longer has. Records of an entry are kept where its new records were refused or could
   * not be written yet.
   */
  #gone(place: Place): readonly string[] {
    const here = this.#here.get(place)
    return [...place.records].flatMap(([recordId, { id, holder }]) => {
      const isKept = here?.has(recordId) === true || this.#unaccepted.has(entryKey(holder, id))
      return isKept ? [] : [recordId]
    })
  }

  async #remove({ there, records }: Place, ids: readonly string[]): Promise<void> {
    const { target, signal } = this.#request
    for (const batch of inBatches(ids, target.batch)) {
      signal.throwIfAborted()
      await there?.remove(batch)
      for (const id of batch) records.delete(id)
      this.#counts.removed += batch.length
    }
  }

  #step(entries: number): void {
    const { collection, report } = this.#request
    this.#done += entries
    report?.({ phase: 'mirror', done: this.#done, total: this.#total, current: collection })
  }
}

function* inBatches<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
