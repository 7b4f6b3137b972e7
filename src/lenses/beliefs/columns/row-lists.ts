/** Rows of the columns by what they share: an id or a content, a partition, or a holder and chain. */
import { placeIn } from '../../../base/compare.ts'
import type { PartitionId } from '../../../model/partition.ts'

const GROWTH = 1.5

/** Rows with the same number (id, content) in doubly linked lists of typed arrays: no object a belief. */
export class RowLists {
  /** By number: the row that came last; -1: none. */
  #heads: Int32Array = new Int32Array(64).fill(-1)
  #next: Int32Array
  #before: Int32Array

  constructor(capacity: number) {
    this.#next = new Int32Array(capacity).fill(-1)
    this.#before = new Int32Array(capacity).fill(-1)
  }

  get byteLength(): number {
    return this.#heads.byteLength + this.#next.byteLength + this.#before.byteLength
  }

  /** -1: no row has this number. */
  first(number: number): number {
    return this.#heads[number] ?? -1
  }

  /** The row behind this one in its list, or -1. */
  next(row: number): number {
    return this.#next[row] as number
  }

  add(number: number, row: number): void {
    if (number >= this.#heads.length) this.#heads = grown(this.#heads, Math.ceil((number + 1) * GROWTH))
    const head = this.#heads[number] as number
    this.#next[row] = head
    this.#before[row] = -1
    if (head !== -1) this.#before[head] = row
    this.#heads[number] = row
  }

  remove(number: number, row: number): void {
    const next = this.#next[row] as number
    const before = this.#before[row] as number
    if (before === -1) this.#heads[number] = next
    else this.#next[before] = next
    if (next !== -1) this.#before[next] = before
  }

  /** Room for so many rows. */
  grow(capacity: number): void {
    this.#next = grown(this.#next, capacity)
    this.#before = grown(this.#before, capacity)
  }
}

const FIRST = 16
const LIST_GROWTH = 1.5
const NONE = new Int32Array(0)

interface List {
  rows: Int32Array
  count: number
  /** How often it changed. */
  changes: number
}

/**
 * Rows by partition, ascending: what somebody sees is walked through without a look at what he does not, so that hidden beliefs
 * cost him nothing (BQ-195).
 */
export class PartitionRows {
  readonly #lists = new Map<PartitionId, List>()
  /** How often all of it was thrown away. */
  #clearings = 0

  get byteLength(): number {
    return [...this.#lists.values()].reduce((sum, { rows }) => sum + rows.byteLength, 0)
  }

  /** Good until the next change. */
  of(partition: PartitionId): Int32Array {
    const list = this.#lists.get(partition)
    return list === undefined ? NONE : list.rows.subarray(0, list.count)
  }

  /** Another number after every change of these partitions, and after none of others. */
  changesIn(partitions: readonly PartitionId[]): number {
    let sum = this.#clearings
    for (const partition of partitions) sum += this.#lists.get(partition)?.changes ?? 0
    return sum
  }

  /** Moves those behind it: mostly there are none, since rows are given in order. */
  add(partition: PartitionId, row: number): void {
    const list = this.#listOf(partition)
    if (list.count === list.rows.length) list.rows = grown(list.rows, Math.ceil(list.rows.length * LIST_GROWTH))
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

  #listOf(partition: PartitionId): List {
    const known = this.#lists.get(partition)
    if (known !== undefined) return known
    const made = { rows: new Int32Array(FIRST), count: 0, changes: 0 }
    this.#lists.set(partition, made)
    return made
  }
}

/** Where beliefs with a past stand, by holder and chain: whether a past may be seen is known without reading it (BQ-194). */
export class ChainRows {
  readonly #rows = new Map<string, number>()
  readonly #names = new Map<number, string>()

  /** -1: the chain has no past, or its belief is gone. */
  of(holder: string, chain: string): number {
    return this.#rows.get(nameOf(holder, chain)) ?? -1
  }

  add(row: number, holder: string, chain: string): void {
    const name = nameOf(holder, chain)
    this.#rows.set(name, row)
    this.#names.set(row, name)
  }

  remove(row: number): void {
    const name = this.#names.get(row)
    if (name === undefined) return
    this.#names.delete(row)
    this.#rows.delete(name)
  }

  clear(): void {
    this.#rows.clear()
    this.#names.clear()
  }
}

function nameOf(holder: string, chain: string): string {
  return `${chain.length} ${chain}${holder}`
}

/** A longer copy; what is new in it is -1. */
export function grown(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const into = new Int32Array(length)
  into.set(from)
  return into.fill(-1, from.length)
}
