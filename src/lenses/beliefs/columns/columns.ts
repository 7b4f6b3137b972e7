/**
 * All current beliefs in memory, in columns that can be filtered and ranked quickly. They are read from the store on first use and then
 * updated from the store's feed of changes, whichever process wrote. Access is not checked here: a caller that reads a row must ask its
 * `Requester` about the row's partition.
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

/** Maximum number of current versions, and of vectors per model, that are cached; each takes some kilobytes. */
const KEPT = 4096

const FIRST_ROWS = 256
/** Number of beliefs read from the store in one step, with their contents: some milliseconds of work. */
const PAGE = 250
/**
 * If the change feed has more than this number of changes, and more than `CHANGES_PER_BELIEF` per belief, reading all beliefs again is
 * cheaper than applying the changes.
 */
const MAX_FOLLOWED = 2000
const CHANGES_PER_BELIEF = 2
/**
 * Maximum number of rows freed since all beliefs were last read. Above it, and if more rows were freed than there are beliefs, all beliefs
 * are read again to release the memory of unused texts.
 */
const WASTED = 100_000

export class BeliefColumns {
  readonly #store: Store
  /** Cache of recently read current versions, because the beliefs that rank high are read again and again. */
  readonly versions: RecentOfEntries<CurrentBelief> = new RecentOfEntries(KEPT, readCurrent, ({ entry }) => entry.key)
  /** Caches of recently read vectors, one cache for each embedding model, by the model's identifier. */
  readonly #vectors = new Map<string, RecentOfEntries<EntryVector>>()
  readonly #columns = new Columns(BELIEF_COLUMNS, FIRST_ROWS)
  #texts = new ColumnTexts(0)
  #parents: Int32Array[] = []
  readonly #rowByEntry = new Map<EntryKey, number>()
  /**
   * First rows of the linked lists of rows with an equal id (indexed by the id's number) and of rows with an equal content (indexed by the
   * content's number). Each is the row added last; absent or -1: the list is empty.
   */
  #lastOfId: number[] = []
  #lastOfContent: number[] = []
  readonly #byPartition = new PartitionRows()
  /**
   * Rows of the current beliefs that have earlier versions, by holder and chain of versions. The earlier versions can be visible to others
   * only if the current belief is, so this is known without reading them (BQ-194).
   */
  readonly #rowByChain = new Map<string, number>()
  readonly #chainByRow = new Map<number, string>()
  #free: number[] = []
  #rows = 0
  /** How many times all beliefs have been read from the store. */
  #loads = 0
  /** Number of rows that became unused since all beliefs were last read. */
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

  /** The typed arrays of belief fields, one row per belief. Valid until the next `refresh`. */
  get arrays(): BeliefArrays {
    return this.#columns.arrays
  }

  /** The texts that are represented by numbers in the columns: ids, holders, contents and domain sets. Valid until the next `refresh`. */
  get texts(): ColumnTexts {
    return this.#texts
  }

  /** Number of rows in the columns, including unused rows. */
  get rows(): number {
    return this.#rows
  }

  /** Number of current beliefs in the columns. */
  get size(): number {
    return this.#rowByEntry.size
  }

  /**
   * Applies to the columns all changes committed since the last call, by this or another process; takes microseconds if there are none.
   * Must not be called within a write.
   */
  refresh(): void {
    this.#feed.refresh(this.#store)
  }

  /**
   * Brings the columns up to date with all committed changes, page by page, with a pause after each page so that other work can run.
   * Changes committed during the pauses are applied at the end, and concurrent callers share the work; a call of `refresh` in between reads
   * the rest at once. Must not be called within a write.
   */
  refreshInSteps(): Steps<void> {
    return this.#feed.refreshInSteps(this.#store)
  }

  /** Row of an entry in the columns; -1: the entry is not a current belief. */
  rowOf(entry: EntryKey): number {
    return this.#rowByEntry.get(entry) ?? -1
  }

  idOf(row: number): string {
    return this.#texts.id(this.arrays.ids[row] as number)
  }

  holderOf(row: number): string {
    return this.#texts.holder(this.arrays.holders[row] as number)
  }

  /** Packed hash that identifies the content of a row's belief: equal exactly for equal contents. */
  contentOf(row: number): string {
    return this.#texts.content(this.arrays.contents[row] as number)
  }

  /** Domains of a row's belief, in normal form and in the order in which its writer gave them. */
  domainsOf(row: number): readonly string[] {
    return this.#texts.domainSet(this.arrays.domainSets[row] as number)
  }

  /**
   * Primary and supporting sources of a row's belief, as a flat list of pairs: number of the holder, number of the id. A source may be a
   * past version of a belief.
   */
  parentsOf(row: number): Int32Array {
    return this.#parents[row] as Int32Array
  }

  /**
   * First row with this id, given by its number; -1: none. Ids are unique only per holder, so `nextOfId` gives further rows until -1. The
   * rows have no particular order.
   */
  firstOfId(id: number): number {
    return this.#lastOfId[id] ?? -1
  }

  nextOfId(row: number): number {
    return this.arrays.nextOfId[row] as number
  }

  /**
   * Row of the current belief with this holder and this id, both given by their numbers; -1: the holder has no current belief with this id.
   */
  rowOfVersion(holder: number, id: number): number {
    if (holder === -1 || id === -1) return -1
    let row = this.firstOfId(id)
    while (row !== -1 && this.arrays.holders[row] !== holder) row = this.nextOfId(row)
    return row
  }

  /** Row of the belief with this holder and this chain of versions, if it has earlier versions; otherwise -1. */
  rowOfChain(holder: string, chain: string): number {
    return this.#rowByChain.get(chainName(holder, chain)) ?? -1
  }

  /** First of the rows whose content equals that of this row. The row itself is among them; `nextCopy` gives the others. */
  firstCopy(row: number): number {
    return this.firstOfContent(this.arrays.contents[row] as number)
  }

  /** First row with this content, given by the content's number; -1: none. `nextCopy` gives the other rows. */
  firstOfContent(content: number): number {
    return this.#lastOfContent[content] ?? -1
  }

  nextCopy(row: number): number {
    return this.arrays.nextOfContent[row] as number
  }

  /** Rows of the beliefs in an access partition, in ascending order. Valid until the next `refresh`. */
  rowsIn(partition: PartitionId): Int32Array {
    return this.#byPartition.of(partition)
  }

  /**
   * A number that changes with every change of a belief in the given partitions, and with no change in other partitions. It must never be
   * shown to a requester.
   */
  changesIn(partitions: readonly PartitionId[]): number {
    return this.#byPartition.changesIn(partitions)
  }

  /** Cache of belief vectors made by a model. Cached vectors never become outdated, because the vector of a belief never changes. */
  vectorsBy(model: string): RecentOfEntries<EntryVector> {
    const known = this.#vectors.get(model)
    if (known !== undefined) return known
    const read = (reader: StoreReader, keys: readonly EntryKey[]) => readVectors(reader, model, keys)
    const made = new RecentOfEntries(KEPT, read, ({ entry }: EntryVector) => entry)
    this.#vectors.set(model, made)
    return made
  }

  /** Reads all beliefs into the columns, one page per step; each page is read in a transaction of its own. */
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

/** Text made from a holder and a chain of versions; different pairs always give different texts. */
function chainName(holder: string, chain: string): string {
  return `${chain.length} ${chain}${holder}`
}

// Rows with an equal id, and rows with an equal content, form linked lists within two columns, so that no object per belief is needed. This
// function adds a row at the beginning of a list.

function addFirst(last: number[], next: Int32Array, number: number, row: number): void {
  next[row] = last[number] ?? -1
  last[number] = row
}

/** Removes a row from its linked list; takes time proportional to the number of rows before it in the list. */
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
  /** Number of times that a row was added to or removed from this partition's list. */
  changes: number
}

/**
 * Rows of beliefs by access partition, ascending. A query visits only the partitions that its requester may see, so that hidden beliefs
 * cost no time (BQ-195).
 */
export class PartitionRows {
  readonly #lists = new Map<PartitionId, PartitionList>()
  /** Number of times that the lists of all partitions were emptied. */
  #clearings = 0

  /** Rows of the beliefs in a partition, ascending. Valid until the next change. */
  of(partition: PartitionId): Int32Array {
    const list = this.#lists.get(partition)
    return list === undefined ? NONE : list.rows.subarray(0, list.count)
  }

  /** A number that changes with every addition or removal of rows in these partitions, and with none in other partitions. */
  changesIn(partitions: readonly PartitionId[]): number {
    return partitions.reduce((sum, each) => sum + (this.#lists.get(each)?.changes ?? 0), this.#clearings)
  }

  /**
   * Adds a row to its partition's list and moves the larger rows behind it; usually there are none, because rows are added in ascending
   * order.
   */
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
    // Clearing the lists keeps their counts of changes, so that a sum of counts never returns to an earlier value.
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

/**
 * Two lists of rows, each ascending: rows that have the same id as another of the examined rows, and rows that have the same content as
 * another of them. In most stores both lists are short.
 */
export interface SharedRows {
  readonly id: readonly number[]
  readonly content: readonly number[]
}

/**
 * Finds the rows among `rows` that share an id or a content with another of them. Rows outside `rows` are not looked at, so beliefs outside
 * the query neither affect the result nor cost time.
 */
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

/**
 * Returns a function that gives the decay rate per day of a domain set, for a query about given domains; each rate is computed when first
 * needed.
 */
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
