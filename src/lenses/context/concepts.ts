/**
 * The concepts in memory, by what questions look at first: ids, names, types, places. Follows the change feed, so a
 * question reads only what changed since the last one.
 */
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { foldName, wordsOf } from './names.ts'
import { CONCEPTS } from './tables.ts'

const PAGE = 4096
const FEED_PAGE = 1000
const COLUMNS = ['entry', 'id', 'name', 'type', 'url', 'start_line', 'end_line']

export class Concept {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly id: number
  readonly name: string
  readonly type: string
  readonly url: string | null
  readonly startLine: number | null
  readonly endLine: number | null
  readonly folded: string
  #words: readonly string[] | null = null

  constructor(row: Row, partition: PartitionId) {
    this.entry = row['entry'] as EntryKey
    this.partition = partition
    this.id = row['id'] as number
    this.name = row['name'] as string
    this.type = row['type'] as string
    this.url = row['url'] as string | null
    this.startLine = row['start_line'] as number | null
    this.endLine = row['end_line'] as number | null
    this.folded = foldName(this.name)
  }

  /** Folded words of the name. */
  get words(): readonly string[] {
    this.#words ??= wordsOf(this.name)
    return this.#words
  }
}

/** What one viewer sees: by id, and in ascending order of ids. */
export interface VisibleConcepts {
  readonly all: readonly Concept[]
  byId(id: number): Concept | undefined
}

export class Concepts {
  readonly #store: Store
  readonly #byEntry = new Map<EntryKey, Concept>()
  #version = -1
  #position = -1
  #visible = new Map<string, VisibleConcepts>()

  constructor(store: Store) {
    this.#store = store
  }

  visible(partitions: readonly PartitionId[]): VisibleConcepts {
    this.#follow()
    const key = partitions.join()
    const known = this.#visible.get(key)
    if (known !== undefined) return known
    const made = this.#look(new Set(partitions))
    this.#visible.set(key, made)
    return made
  }

  byEntry(entry: EntryKey): Concept | undefined {
    return this.#byEntry.get(entry)
  }

  #look(partitions: ReadonlySet<PartitionId>): VisibleConcepts {
    const all = [...this.#byEntry.values()].filter(concept => partitions.has(concept.partition)).sort(byId)
    const ids = new Map(all.map(concept => [concept.id, concept]))
    return { all, byId: id => ids.get(id) }
  }

  #follow(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => {
      if (this.#position < 0 || !this.#replay(reader)) this.#load(reader)
    })
    this.#version = version
  }

  #load(reader: StoreReader): void {
    const partitionOf = new Map<EntryKey, PartitionId>()
    for (const { id } of reader.partitions()) {
      const sight = { viewer: LOCAL_OWNER, partitions: [id] }
      for (const entry of reader.matching(sight, { op: 'eq', field: 'kind', value: 'concept' }))
        partitionOf.set(entry, id)
    }
    this.#byEntry.clear()
    for (let after: Row | undefined; ; ) {
      const rows = reader.table(CONCEPTS).scan({}, { after, limit: PAGE, columns: COLUMNS })
      for (const row of rows) this.#take(row, partitionOf)
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) break
      after = { entry: last['entry'] ?? null }
    }
    this.#position = reader.lastSeq()
    this.#visible = new Map()
  }

  /** False when the feed no longer reaches back. */
  #replay(reader: StoreReader): boolean {
    if (this.#position > reader.lastSeq() || reader.firstSeq() > this.#position + 1) return false
    const changed = new Map<EntryKey, PartitionId>()
    for (;;) {
      const page = reader.changesSince(this.#position, FEED_PAGE)
      for (const { seq, kind, entry, partition } of page) {
        if (kind !== 'vectors') changed.set(entry, partition)
        this.#position = seq
      }
      if (page.length < FEED_PAGE) break
    }
    if (changed.size === 0) return true
    for (const entry of changed.keys()) this.#byEntry.delete(entry)
    const rows = reader.table(CONCEPTS).scan({}, { entries: [...changed.keys()], columns: COLUMNS })
    for (const row of rows) this.#take(row, changed)
    this.#visible = new Map()
    return true
  }

  #take(row: Row, partitionOf: ReadonlyMap<EntryKey, PartitionId>): void {
    const partition = partitionOf.get(row['entry'] as EntryKey)
    if (partition === undefined) return
    const concept = new Concept(row, partition)
    this.#byEntry.set(concept.entry, concept)
  }
}

function byId(a: Concept, b: Concept): number {
  return a.id - b.id
}
