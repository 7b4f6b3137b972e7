/**
 * All current beliefs, ready to be filtered and ranked: read from the store on first use, then kept in step by the change
 * feed, whichever process wrote. Whose they are is not asked here: who reads a row asks its `Requester` about the partition.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { FeedFollower, RecentOfEntries } from '../../../pipeline/columns.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { type DecayTable, decayRate } from '../measures/decay.ts'
import { type CurrentBelief, currentVersion } from '../record/version.ts'
import { BELIEFS } from '../tables.ts'
import {
  type BeliefRow,
  type ColumnArrays,
  ColumnTexts,
  freeRow,
  grownArrays,
  newArrays,
  ROW_BYTES,
  readBeliefRows,
  setRow,
} from './column-arrays.ts'
import { ChainRows, grown, PartitionRows, RowLists } from './row-lists.ts'

/** Some kilobytes each. */
const KEPT = 4096

const FIRST_ROWS = 256
const FIRST_ENTRIES = 1024
const GROWTH = 1.5
/** With more changes than so many, and than so many for each belief, reading all is cheaper. */
const WORTH_FOLLOWING = 2000
const CHANGES_PER_BELIEF = 2
const EMPTY = new Int32Array(0)
/** Of an array of parents on the heap, and its numbers. */
const PARENTS_BYTES = 108
/** Of a row, beside its arrays: its place among the parents. */
const PLACE_BYTES = 8

export class BeliefColumns {
  readonly #store: Store
  /** Current versions as they were read last: those that rank high do so again and again. */
  readonly versions: RecentOfEntries<CurrentBelief> = new RecentOfEntries(KEPT, readCurrent, ({ entry }) => entry.key)
  /** The same of vectors, by the key of their model. */
  readonly #vectors = new Map<string, RecentOfEntries<EntryVector>>()
  #arrays: ColumnArrays = newArrays(FIRST_ROWS)
  #texts = new ColumnTexts(0)
  #parents: Int32Array[] = []
  #rowByEntry = grown(EMPTY, FIRST_ENTRIES)
  #sameId = new RowLists(FIRST_ROWS)
  #sameContent = new RowLists(FIRST_ROWS)
  readonly #byPartition = new PartitionRows()
  readonly #byChain = new ChainRows()
  #free: number[] = []
  #rows = 0
  #size = 0
  /** How often all was read. */
  #loads = 0
  readonly #feed = new FeedFollower({
    clear: () => this.#clear(),
    pages: () => this.#pages(),
    take: (reader, changed) => this.#take(reader, [...changed.keys()]),
    most: () => Math.max(WORTH_FOLLOWING, CHANGES_PER_BELIEF * this.#size),
  })

  constructor(store: Store) {
    this.#store = store
  }

  /** The numbers, by row. Good until the next `refresh`. */
  get arrays(): ColumnArrays {
    return this.#arrays
  }

  /** What numbers of ids, holders, contents and domain sets mean. Good until the next `refresh`. */
  get texts(): ColumnTexts {
    return this.#texts
  }

  /** Rows run from 0 to one less; some may be free. */
  get rows(): number {
    return this.#rows
  }

  /** Number of beliefs. */
  get size(): number {
    return this.#size
  }

  /** Near enough for a status page. */
  get byteLength(): number {
    return (
      this.#arrays.entries.length * ROW_BYTES +
      this.#rowByEntry.byteLength +
      this.#sameId.byteLength +
      this.#sameContent.byteLength +
      this.#byPartition.byteLength +
      this.#rows * PLACE_BYTES +
      this.#parents.reduce((sum, names) => sum + (names.length === 0 ? 0 : PARENTS_BYTES), 0) +
      this.#texts.byteLength
    )
  }

  /** Takes in what was committed since, here or in another process: microseconds when that is nothing. Not within a write. */
  refresh(): void {
    this.#feed.refresh(this.#store)
  }

  /**
   * As `refresh`, in steps of a page: of the beliefs when all are read, else of the change feed. What is written between the steps is
   * taken in at the end. Several may be at work: each takes the next page. `refresh` meanwhile reads the rest in one piece. Not
   * within a write.
   */
  refreshInSteps(): Steps<void> {
    return this.#feed.refreshInSteps(this.#store)
  }

  /** -1: no belief. */
  rowOf(entry: EntryKey): number {
    return this.#rowByEntry[entry] ?? -1
  }

  idOf(row: number): string {
    return this.#texts.id(this.#arrays.ids[row] as number)
  }

  holderOf(row: number): string {
    return this.#texts.holder(this.#arrays.holders[row] as number)
  }

  /** Tells contents apart: of equal ones it is equal. */
  contentOf(row: number): string {
    return this.#texts.content(this.#arrays.contents[row] as number)
  }

  /** Normalised, as they were written. */
  domainsOf(row: number): readonly string[] {
    return this.#texts.domainSet(this.#arrays.domainSets[row] as number)
  }

  /** What primary and supporting sources name, in pairs: number of the holder, number of the id. It may be of the past. */
  parentsOf(row: number): Int32Array {
    return this.#parents[row] as Int32Array
  }

  /** Rows with this id, which is unique per holder only; -1 at their end. In no order that means anything. */
  firstOfId(id: number): number {
    return this.#sameId.first(id)
  }

  nextOfId(row: number): number {
    return this.#sameId.next(row)
  }

  /** Of numbers of a holder and of an id: the row, whoever asks; -1: it is no current belief. */
  rowOfVersion(holder: number, id: number): number {
    if (holder === -1 || id === -1) return -1
    let row = this.firstOfId(id)
    while (row !== -1 && this.#arrays.holders[row] !== holder) row = this.nextOfId(row)
    return row
  }

  /** The row of a belief with a past, by its holder and chain, whoever asks; -1: there is none. */
  rowOfChain(holder: string, chain: string): number {
    return this.#byChain.of(holder, chain)
  }

  /** Rows with the content of this one, itself among them; -1 at their end. */
  firstCopy(row: number): number {
    return this.#sameContent.first(this.#arrays.contents[row] as number)
  }

  nextCopy(row: number): number {
    return this.#sameContent.next(row)
  }

  /** Rows of a partition, ascending. Good until the next `refresh`. */
  rowsIn(partition: PartitionId): Int32Array {
    return this.#byPartition.of(partition)
  }

  /** Another number after every change of beliefs in these partitions, and after none of others. Never shown. */
  changesIn(partitions: readonly PartitionId[]): number {
    return this.#byPartition.changesIn(partitions)
  }

  /** A belief keeps its vector once it has one. */
  vectorsBy(model: string): RecentOfEntries<EntryVector> {
    const known = this.#vectors.get(model)
    if (known !== undefined) return known
    const read = (reader: StoreReader, keys: readonly EntryKey[]) => readVectors(reader, model, keys)
    const made = new RecentOfEntries(KEPT, read, ({ entry }: EntryVector) => entry)
    this.#vectors.set(model, made)
    return made
  }

  /** Each page is read in a transaction of its own. */
  *#pages(): Generator {
    for (const page of readBeliefRows(this.#store, null)) {
      for (const belief of page) this.#put(belief)
      yield
    }
  }

  #take(reader: StoreReader, entries: readonly EntryKey[]): void {
    const old = entries.filter(entry => this.rowOf(entry) !== -1)
    const fresh = [...readBeliefRows(reader, entries)].flat()
    if (old.length + fresh.length === 0) return
    for (const entry of old) this.#remove(entry)
    for (const belief of fresh) this.#put(belief)
  }

  #put(belief: BeliefRow): void {
    const row = this.#free.pop() ?? this.#rows++
    if (row >= this.#arrays.entries.length) this.#grow()
    const numbers = this.#texts.take(belief)
    setRow(this.#arrays, row, belief, numbers)
    this.#putParents(row, belief)
    this.#sameId.add(numbers.id, row)
    this.#sameContent.add(numbers.content, row)
    this.#byPartition.add(belief.partition, row)
    if (belief.chain !== belief.id) this.#byChain.add(row, belief.holder, belief.chain)
    this.#noteRow(belief.entry, row)
    this.#size++
  }

  #remove(entry: EntryKey): void {
    const row = this.rowOf(entry)
    if (row === -1) return
    const { numbers, partition } = freeRow(this.#arrays, row)
    this.#byPartition.remove(partition, row)
    this.#sameId.remove(numbers.id, row)
    this.#sameContent.remove(numbers.content, row)
    this.#texts.leave(numbers)
    this.#removeParents(row)
    this.#byChain.remove(row)
    this.#rowByEntry[entry] = -1
    this.#free.push(row)
    this.#size--
  }

  #putParents(row: number, { parents }: BeliefRow): void {
    this.#parents[row] = parents.length === 0 ? EMPTY : this.#texts.takeNames(parents)
  }

  #removeParents(row: number): void {
    this.#texts.leaveNames(this.parentsOf(row))
    this.#parents[row] = EMPTY
  }

  #noteRow(entry: EntryKey, row: number): void {
    const known = this.#rowByEntry
    if (entry >= known.length) this.#rowByEntry = grown(known, Math.ceil((entry + 1) * GROWTH))
    this.#rowByEntry[entry] = row
  }

  #grow(): void {
    const capacity = Math.ceil(this.#arrays.entries.length * GROWTH)
    this.#arrays = grownArrays(this.#arrays, capacity)
    this.#sameId.grow(capacity)
    this.#sameContent.grow(capacity)
  }

  #clear(): void {
    const capacity = Math.max(FIRST_ROWS, this.#store.table(BELIEFS).count())
    this.#arrays = newArrays(capacity)
    this.#texts = new ColumnTexts(++this.#loads)
    this.#parents = []
    this.#rowByEntry = grown(EMPTY, FIRST_ENTRIES)
    this.#sameId = new RowLists(capacity)
    this.#sameContent = new RowLists(capacity)
    this.#byPartition.clear()
    this.#byChain.clear()
    this.#free = []
    this.#rows = 0
    this.#size = 0
  }
}

interface EntryVector {
  readonly entry: EntryKey
  readonly vector: Float32Array
}

function readVectors(reader: StoreReader, model: string, entries: readonly EntryKey[]): readonly EntryVector[] {
  const chunks = reader.firstChunks(entries)
  const vectors = reader.vectorsOnly(model, [...chunks.values()])
  const byChunk = new Map(vectors.map(({ chunk, vector }) => [chunk, vector]))
  return [...chunks].flatMap(([entry, chunk]) => {
    const vector = byChunk.get(chunk)
    return vector === undefined ? [] : [{ entry, vector }]
  })
}

function readCurrent(reader: StoreReader, keys: readonly EntryKey[]): readonly CurrentBelief[] {
  const rows = new Map(
    reader
      .table(BELIEFS)
      .scan({}, { entries: keys })
      .map(row => [row['entry'] as EntryKey, row]),
  )
  return reader.entries(keys).flatMap(entry => {
    const row = rows.get(entry.key)
    return row === undefined ? [] : [{ entry, version: currentVersion(entry, row) }]
  })
}

/** Rows whose id, and rows whose content, another of the same rows has too; in their order. Most stores have few. */
export interface SharedRows {
  readonly id: readonly number[]
  readonly content: readonly number[]
}

/** Looks at these rows alone: what nobody asked about makes no row a shared one, and costs nothing. */
export function sharedAmong(columns: BeliefColumns, rows: Int32Array): SharedRows {
  const { ids, contents } = columns.arrays
  return { id: shared(rows, ids), content: shared(rows, contents) }
}

function shared(rows: Int32Array, numbers: Int32Array): readonly number[] {
  const met = new Set<number>()
  const twice = new Set<number>()
  for (const row of rows) {
    const number = numbers[row] as number
    if (met.has(number)) twice.add(number)
    else met.add(number)
  }
  return twice.size === 0 ? [] : [...rows.filter(row => twice.has(numbers[row] as number))]
}

/** How fast each domain set ages, a day, for who asks about these domains: worked out when first asked for. */
export function domainRates(
  columns: BeliefColumns,
  queryDomains: readonly string[],
  table: DecayTable,
): (domainSet: number) => number {
  const known = new Map<number, number>()
  return set => {
    const rate = known.get(set) ?? decayRate(columns.texts.domainSet(set), queryDomains, table)
    known.set(set, rate)
    return rate
  }
}
