/**
 * All current beliefs, ready to be filtered and ranked: read from the store on first use, then kept in step by the change
 * feed, whichever process wrote. Who may see them is not checked here: whoever reads a row asks its `Requester` about the partition.
 */
import { Columns, grown } from '../../../base/columns.ts'
import { placeIn } from '../../../base/compare.ts'
import type { Steps } from '../../../base/turns.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { FeedFollower, RecentOfEntries } from '../../../pipeline/columns.ts'
import { tablePages } from '../../../pipeline/many-rows.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { type DecayTable, decayRate } from '../measures/confidence.ts'
import { type CurrentBelief, currentVersion, type KeptDerivation } from '../record/version.ts'
import { BELIEFS } from '../tables.ts'
import { BELIEF_COLUMNS, type BeliefArrays, ColumnTexts, NONE, ROW_COLUMNS, setNumbers } from './column-arrays.ts'

/** Some kilobytes each. */
const KEPT = 4096

const FIRST_ROWS = 256
/** Entries read at once: their contents come along. Some milliseconds of work. */
const PAGE = 250
/** With more changes than so many, and than so many for each belief, reading all is cheaper. */
const MAX_FOLLOWED = 2000
const CHANGES_PER_BELIEF = 2
/** Rows given up since all was read, more than so many and than there are beliefs: reading all again gives the memory of their texts back. */
const WASTED = 100_000

export class BeliefColumns {
  readonly #store: Store
  /** Current versions as they were read last: those that rank high do so again and again. */
  readonly versions: RecentOfEntries<CurrentBelief> = new RecentOfEntries(KEPT, readCurrent, ({ entry }) => entry.key)
  /** The same of vectors, by the key of their model. */
  readonly #vectors = new Map<string, RecentOfEntries<EntryVector>>()
  readonly #columns = new Columns(BELIEF_COLUMNS, FIRST_ROWS)
  #texts = new ColumnTexts(0)
  #parents: Int32Array[] = []
  readonly #rowByEntry = new Map<EntryKey, number>()
  /** By number of an id, or of a content: the row with it that came last; absent or -1: none. */
  #lastOfId: number[] = []
  #lastOfContent: number[] = []
  readonly #byPartition = new PartitionRows()
  /** Beliefs with a past, by holder and chain: whether a past may be seen is known without reading it (BQ-194). */
  readonly #rowByChain = new Map<string, number>()
  readonly #chainByRow = new Map<number, string>()
  #free: number[] = []
  #rows = 0
  /** How often all was read. */
  #loads = 0
  /** Rows given up since. */
  #wasted = 0
  readonly #feed = new FeedFollower({
    clear: () => this.#clear(),
    pages: () => this.#pages(),
    take: (reader, changed) => this.#take(reader, [...changed.keys()]),
    most: () => (this.#isWasteful() ? 0 : Math.max(MAX_FOLLOWED, CHANGES_PER_BELIEF * this.size)),
  })

  constructor(store: Store) {
    this.#store = store
  }

  /** The numbers, by row. Good until the next `refresh`. */
  get arrays(): BeliefArrays {
    return this.#columns.arrays
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
    return this.#rowByEntry.size
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
    return this.#rowByEntry.get(entry) ?? -1
  }

  idOf(row: number): string {
    return this.#texts.id(this.arrays.ids[row] as number)
  }

  holderOf(row: number): string {
    return this.#texts.holder(this.arrays.holders[row] as number)
  }

  /** Tells contents apart: of equal ones it is equal. */
  contentOf(row: number): string {
    return this.#texts.content(this.arrays.contents[row] as number)
  }

  /** Normalised, as they were written. */
  domainsOf(row: number): readonly string[] {
    return this.#texts.domainSet(this.arrays.domainSets[row] as number)
  }

  /** What primary and supporting sources name, in pairs: number of the holder, number of the id. It may be of the past. */
  parentsOf(row: number): Int32Array {
    return this.#parents[row] as Int32Array
  }

  /** Rows with this id, which is unique per holder only; -1 at their end. In no order that means anything. */
  firstOfId(id: number): number {
    return this.#lastOfId[id] ?? -1
  }

  nextOfId(row: number): number {
    return this.arrays.nextOfId[row] as number
  }

  /** Of numbers of a holder and of an id: the row, the requester; -1: it is no current belief. */
  rowOfVersion(holder: number, id: number): number {
    if (holder === -1 || id === -1) return -1
    let row = this.firstOfId(id)
    while (row !== -1 && this.arrays.holders[row] !== holder) row = this.nextOfId(row)
    return row
  }

  /** The row of a belief with a past, by its holder and chain, the requester; -1: there is none. */
  rowOfChain(holder: string, chain: string): number {
    return this.#rowByChain.get(chainName(holder, chain)) ?? -1
  }

  /** Rows with the content of this one, itself among them; -1 at their end. */
  firstCopy(row: number): number {
    return this.firstOfContent(this.arrays.contents[row] as number)
  }

  /** By number of the content; `nextCopy` gives the others. */
  firstOfContent(content: number): number {
    return this.#lastOfContent[content] ?? -1
  }

  nextCopy(row: number): number {
    return this.arrays.nextOfContent[row] as number
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
    for (const rows of tablePages(this.#store, BELIEFS, ROW_COLUMNS, PAGE)) {
      this.#put(this.#store, rows)
      yield
    }
  }

  #take(reader: StoreReader, entries: readonly EntryKey[]): void {
    for (const entry of entries) this.#remove(entry)
    for (let at = 0; at < entries.length; at += PAGE) {
      const page = { entries: entries.slice(at, at + PAGE), columns: ROW_COLUMNS }
      this.#put(reader, reader.table(BELIEFS).scan({}, page))
    }
  }

  #put(reader: StoreReader, rows: readonly Row[]): void {
    const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
    for (const entry of reader.entries([...byEntry.keys()])) this.#putRow(entry, byEntry.get(entry.key) as Row)
  }

  #putRow(entry: Entry, aspect: Row): void {
    const row = this.#free.pop() ?? this.#rows++
    this.#columns.reserve(row + 1)
    const { arrays } = this
    const { holder } = entry.audience
    const derivation = JSON.parse(aspect['derivation'] as string) as KeptDerivation
    setNumbers(arrays, row, entry, aspect, derivation)
    this.#texts.setRow(arrays, row, entry, aspect['domains'] as string)
    this.#parents[row] = this.#texts.parents(derivation, holder)
    addFirst(this.#lastOfId, arrays.nextOfId, arrays.ids[row] as number, row)
    addFirst(this.#lastOfContent, arrays.nextOfContent, arrays.contents[row] as number, row)
    this.#byPartition.add(entry.partition, row)
    this.#rowByEntry.set(entry.key, row)
    if (aspect['chain'] === entry.id) return
    const chain = chainName(holder, aspect['chain'] as string)
    this.#rowByChain.set(chain, row)
    this.#chainByRow.set(row, chain)
  }

  #remove(entry: EntryKey): void {
    const row = this.rowOf(entry)
    if (row === -1) return
    const { entries, partitions, ids, contents, nextOfId, nextOfContent } = this.arrays
    this.#byPartition.remove(partitions[row] as number, row)
    takeOut(this.#lastOfId, nextOfId, ids[row] as number, row)
    takeOut(this.#lastOfContent, nextOfContent, contents[row] as number, row)
    this.#rowByChain.delete(this.#chainByRow.get(row) ?? '')
    this.#chainByRow.delete(row)
    this.#rowByEntry.delete(entry)
    entries[row] = -1
    partitions[row] = -1
    this.#parents[row] = NONE
    this.#free.push(row)
    this.#wasted++
  }

  #isWasteful(): boolean {
    return this.#wasted > Math.max(WASTED, this.size)
  }

  #clear(): void {
    this.#columns.clear(Math.max(FIRST_ROWS, this.#store.table(BELIEFS).count()))
    this.#texts = new ColumnTexts(++this.#loads)
    this.#parents = []
    this.#rowByEntry.clear()
    this.#lastOfId = []
    this.#lastOfContent = []
    this.#byPartition.clear()
    this.#rowByChain.clear()
    this.#chainByRow.clear()
    this.#free = []
    this.#rows = 0
    this.#wasted = 0
  }
}

/** No two pairs give the same. */
function chainName(holder: string, chain: string): string {
  return `${chain.length} ${chain}${holder}`
}

// Rows with the same number (id, content) are linked lists in two columns: no object for a belief.

function addFirst(last: number[], next: Int32Array, number: number, row: number): void {
  next[row] = last[number] ?? -1
  last[number] = row
}

/** Costs a look at each row before it in its list. */
function takeOut(last: number[], next: Int32Array, number: number, row: number): void {
  let before = -1
  for (let at = last[number] as number; at !== row; at = next[at] as number) before = at
  if (before === -1) last[number] = next[row] as number
  else next[before] = next[row] as number
}

const FIRST = 16

interface PartitionList {
  rows: Int32Array
  count: number
  /** How often it changed. */
  changes: number
}

/**
 * Rows by partition, ascending: what a requester sees is walked through without a look at what it does not see, so that hidden
 * beliefs cost it nothing (BQ-195).
 */
export class PartitionRows {
  readonly #lists = new Map<PartitionId, PartitionList>()
  /** How often all of it was thrown away. */
  #clearings = 0

  /** Good until the next change. */
  of(partition: PartitionId): Int32Array {
    const list = this.#lists.get(partition)
    return list === undefined ? NONE : list.rows.subarray(0, list.count)
  }

  /** Another number after every change of these partitions, and after none of others. */
  changesIn(partitions: readonly PartitionId[]): number {
    return partitions.reduce((sum, each) => sum + (this.#lists.get(each)?.changes ?? 0), this.#clearings)
  }

  /** Moves those behind it: mostly there are none, since rows are given in order. */
  add(partition: PartitionId, row: number): void {
    const list = this.#listOf(partition)
    if (list.count === list.rows.length) list.rows = grown(list.rows, list.count + 1)
    const at = placeIn(list.rows, row, list.count)
    list.rows.copyWithin(at + 1, at, list.count)
    list.rows[at] = row
    list.count++
    list.changes++
  }

  remove(partition: PartitionId, row: number): void {
    const list = this.#listOf(partition)
    const at = placeIn(list.rows, row, list.count)
    list.rows.copyWithin(at, at + 1, list.count)
    list.count--
    list.changes++
  }

  clear(): void {
    this.#clearings++
    // What is counted stays, lest a sum come twice.
    for (const list of this.#lists.values()) list.count = 0
  }

  #listOf(partition: PartitionId): PartitionList {
    const known = this.#lists.get(partition)
    if (known !== undefined) return known
    const made = { rows: new Int32Array(FIRST), count: 0, changes: 0 }
    this.#lists.set(partition, made)
    return made
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

/** How fast each domain set ages, a day, for the requester about these domains: worked out when first asked for. */
export function domainRates(
  columns: { readonly texts: Pick<ColumnTexts, 'domainSet'> },
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
