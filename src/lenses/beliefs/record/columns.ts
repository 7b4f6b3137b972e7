/**
 * All current beliefs, ready to be filtered and ranked: read from the store on first use, then kept in step by the change
 * feed, whichever process wrote. Whose they are is not asked here: who reads a row asks its `Requester` about the partition.
 */
import { textHash } from '../../../base/text-hash.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { BELIEFS } from '../tables.ts'
import { type BeliefRow, readBeliefRows } from './belief-rows.ts'
import { ChainRows } from './chain-rows.ts'
import { type ColumnArrays, DIMENSION_COUNT, grownArrays, newArrays, ROW_BYTES } from './column-arrays.ts'
import { changesAfter } from './feed.ts'
import { Interned } from './interned.ts'
import { LastRead } from './last-read.ts'
import { PartitionRows, type RowChange, type RowsMark } from './partition-rows.ts'
import type { VersionName } from './references.ts'
import { RowLists } from './row-lists.ts'
import { TouchedRows } from './touched-rows.ts'

const FIRST_ROWS = 256
const GROWTH = 1.5
/** With more news than so many, and than there are beliefs, reading all is the cheaper way. */
const WORTH_FOLLOWING = 2000
const NO_PARENTS = new Int32Array(0)
/** Of an array of parents on the heap, beside its numbers. */
const PARENTS_BYTES = 100

export class BeliefColumns {
  readonly #store: Store
  #arrays: ColumnArrays = newArrays(FIRST_ROWS)
  #parents: Int32Array[] = []
  #rowByEntry: Int32Array = new Int32Array(1024).fill(-1)
  #sameId = new RowLists(FIRST_ROWS)
  #sameContent = new RowLists(FIRST_ROWS)
  #ids = new Interned()
  #holders = new Interned()
  #contents = new Interned()
  #domains = new Interned()
  /** By number of the domain set; made when first asked for. */
  #domainLists: (readonly string[] | null)[] = []
  readonly #byPartition = new PartitionRows()
  readonly #byChain = new ChainRows()
  #free: number[] = []
  #rows = 0
  #size = 0
  #parentCount = 0
  #revision = 0
  #loads = 0
  readonly lastRead: LastRead = new LastRead()
  /** Rows that came, or were given to another belief. */
  readonly touched: TouchedRows = new TouchedRows()
  /** Place in the change feed; -1: nothing was read yet. */
  #position = -1
  #version = -1

  constructor(store: Store) {
    this.#store = store
  }

  /** The numbers, by row. Good until the next `refresh`. */
  get arrays(): ColumnArrays {
    return this.#arrays
  }

  /** Rows run from 0 to one less; some may be free. */
  get rows(): number {
    return this.#rows
  }

  /** Number of beliefs. */
  get size(): number {
    return this.#size
  }

  /** Another number after every change of what is here: for those who keep what they made of it. Never shown. */
  get revision(): number {
    return this.#revision
  }

  /** Place in the change feed that these are as of; -1: nothing was read yet. */
  get position(): number {
    return this.#position
  }

  /** Near enough for a status page. */
  get byteLength(): number {
    const texts = [this.#ids, this.#holders, this.#contents, this.#domains]
    return (
      this.#arrays.entries.length * ROW_BYTES +
      this.#rowByEntry.byteLength +
      this.#sameId.byteLength +
      this.#sameContent.byteLength +
      this.#byPartition.byteLength +
      this.#rows * 8 +
      this.#parentCount * (PARENTS_BYTES + 8) +
      texts.reduce((sum, { byteLength }) => sum + byteLength, 0)
    )
  }

  /** One more than any number of a holder, of an id, of a content and of a domain set: for arrays by them. */
  get bounds(): {
    readonly holders: number
    readonly ids: number
    readonly contents: number
    readonly domainSets: number
  } {
    return {
      holders: this.#holders.length,
      ids: this.#ids.length,
      contents: this.#contents.length,
      domainSets: this.#domains.length,
    }
  }

  /** Takes in what was committed since, here or in another process: microseconds when that is nothing. Not within a write. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => this.#follow(reader))
    this.#version = version
  }

  /** -1: no belief. */
  rowOf(entry: EntryKey): number {
    return this.#rowByEntry[entry] ?? -1
  }

  idOf(row: number): string {
    return this.#ids.text(this.#arrays.ids[row] as number)
  }

  holderOf(row: number): string {
    return this.#holders.text(this.#arrays.holders[row] as number)
  }

  /** Tells contents apart: of equal ones it is equal. */
  contentOf(row: number): string {
    return this.#contents.text(this.#arrays.contents[row] as number)
  }

  /** As long as it is the same, numbers of holders mean what they meant. */
  get holdersMark(): string {
    return `${this.#loads}.${this.#holders.given}`
  }

  /** Of a number in `arrays.holders`. */
  holderName(holder: number): string {
    return this.#holders.text(holder)
  }

  /** -1: holds no belief, and none names one of this holder's. */
  holderNumber(name: string): number {
    return this.#holders.numberOf(name)
  }

  /** Normalised domains of a number in `arrays.domainSets`, as they were written. */
  domainSet(set: number): readonly string[] {
    const known = this.#domainLists[set] ?? null
    if (known !== null) return known
    const made = JSON.parse(this.#domains.text(set)) as readonly string[]
    this.#domainLists[set] = made
    return made
  }

  /** Numbers of all domain sets that some belief has. */
  *domainSets(): Generator<number> {
    for (let set = 0; set < this.#domains.length; set++) if (this.#domains.isUsed(set)) yield set
  }

  /** Numbers of ids; -1: no belief has this id, and none names it as a parent. */
  idNumber(id: string): number {
    return this.#ids.numberOf(id)
  }

  idText(id: number): string {
    return this.#ids.text(id)
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

  /** How far beliefs in these partitions have changed. */
  markOf(partitions: readonly PartitionId[]): RowsMark {
    return this.#byPartition.mark(partitions)
  }

  /** Rows in these partitions that came and went since; null: too many to remember. */
  changesSince(mark: RowsMark, partitions: readonly PartitionId[]): readonly RowChange[] | null {
    return this.#byPartition.since(mark, partitions)
  }

  #follow(reader: StoreReader): void {
    const news = this.#position < 0 ? null : changesAfter(reader, this.#position)
    if (news === null || news.entries.size > Math.max(WORTH_FOLLOWING, this.#size)) {
      this.#load(reader)
    } else {
      this.#take(reader, [...news.entries])
      this.#position = news.position
    }
  }

  #load(reader: StoreReader): void {
    this.#clear(reader.table(BELIEFS).count())
    for (const belief of readBeliefRows(reader, null)) this.#put(belief)
    this.#byPartition.forgetChanges()
    this.#position = reader.lastSeq()
    this.#revision++
    this.lastRead.clear()
  }

  #take(reader: StoreReader, entries: readonly EntryKey[]): void {
    const old = entries.filter(entry => this.rowOf(entry) !== -1)
    const fresh = [...readBeliefRows(reader, entries)]
    if (old.length + fresh.length === 0) return
    for (const entry of old) this.#remove(entry)
    for (const belief of fresh) this.#put(belief)
    this.#revision++
    this.lastRead.forget(entries)
  }

  #put(belief: BeliefRow): void {
    const row = this.#free.pop() ?? this.#rows++
    if (row >= this.#arrays.entries.length) this.#grow()
    const to = this.#arrays
    to.entries[row] = belief.entry
    to.partitions[row] = belief.partition
    to.ids[row] = this.#ids.take(belief.id)
    to.holders[row] = this.#holders.take(belief.holder)
    to.contents[row] = this.#contents.take(packed(belief.contentHash))
    to.domainSets[row] = this.#domains.take(belief.domains)
    to.confidences.set(belief.confidence, row * DIMENSION_COUNT)
    to.created[row] = belief.createdAt
    to.validFrom[row] = belief.validFrom
    to.validUntil[row] = belief.validUntil
    to.derivations[row] = belief.derivation
    to.visibilities[row] = belief.visibility
    to.marks[row * 2] = textHash(belief.id, textHash(belief.contentHash))
    to.marks[row * 2 + 1] = textHash(`${belief.createdAt} ${belief.confidence} ${belief.domains}`)
    this.#parents[row] = this.#numbersOf(belief.parents)
    this.#sameId.add(to.ids[row] as number, row)
    this.#sameContent.add(to.contents[row] as number, row)
    this.#byPartition.add(belief.partition, row, belief.entry)
    if (belief.chain !== belief.id) this.#byChain.add(row, belief.holder, belief.chain)
    this.#noteRow(belief.entry, row)
    this.touched.add(row)
    this.#size++
  }

  #remove(entry: EntryKey): void {
    const row = this.rowOf(entry)
    if (row === -1) return
    const of = this.#arrays
    this.#byPartition.remove(entry, {
      row,
      partition: of.partitions[row] as number,
      holder: of.holders[row] as number,
      marks: [of.marks[row * 2] as number, of.marks[row * 2 + 1] as number],
    })
    this.#sameId.remove(of.ids[row] as number, row)
    this.#sameContent.remove(of.contents[row] as number, row)
    this.#ids.leave(of.ids[row] as number)
    this.#holders.leave(of.holders[row] as number)
    this.#contents.leave(of.contents[row] as number)
    if (this.#domains.leave(of.domainSets[row] as number)) this.#domainLists[of.domainSets[row] as number] = null
    const parents = this.parentsOf(row)
    for (const [at, number] of parents.entries()) (at % 2 === 0 ? this.#holders : this.#ids).leave(number)
    if (parents.length > 0) this.#parentCount--
    this.#parents[row] = NO_PARENTS
    this.#byChain.remove(row)
    of.entries[row] = -1
    of.partitions[row] = -1
    this.#rowByEntry[entry] = -1
    this.#free.push(row)
    this.#size--
  }

  #numbersOf(parents: readonly VersionName[]): Int32Array {
    if (parents.length === 0) return NO_PARENTS
    this.#parentCount++
    return Int32Array.from(parents.flatMap(({ holder, id }) => [this.#holders.take(holder), this.#ids.take(id)]))
  }

  #noteRow(entry: EntryKey, row: number): void {
    if (entry >= this.#rowByEntry.length) {
      const grown = new Int32Array(Math.ceil((entry + 1) * GROWTH)).fill(-1)
      grown.set(this.#rowByEntry)
      this.#rowByEntry = grown
    }
    this.#rowByEntry[entry] = row
  }

  #grow(): void {
    const capacity = Math.ceil(this.#arrays.entries.length * GROWTH)
    this.#arrays = grownArrays(this.#arrays, capacity)
    this.#sameId.grow(capacity)
    this.#sameContent.grow(capacity)
  }

  #clear(expected: number): void {
    const capacity = Math.max(FIRST_ROWS, expected)
    this.#arrays = newArrays(capacity)
    this.#parents = []
    this.#rowByEntry = new Int32Array(1024).fill(-1)
    this.#sameId = new RowLists(capacity)
    this.#sameContent = new RowLists(capacity)
    this.#byPartition.clear()
    this.#byChain.clear()
    this.#loads++
    this.touched.clear()
    this.#ids = new Interned()
    this.#holders = new Interned()
    this.#contents = new Interned()
    this.#domains = new Interned()
    this.#domainLists = []
    this.#free = []
    this.#rows = 0
    this.#size = 0
    this.#parentCount = 0
  }
}

/** A hexadecimal hash as a text of half the length. */
function packed(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1')
}
