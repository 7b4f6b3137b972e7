/**
 * Rows by partition, ascending, and what came and went there of late: what somebody sees is walked through without a look at
 * what he does not, so that hidden beliefs cost him nothing (BQ-195).
 */
import { placeIn } from '../../../base/ascending.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { grown } from './grown.ts'

const FIRST = 16
const GROWTH = 1.5
const NONE = new Int32Array(0)
/** Changes of a partition that are remembered at least; up to twice as many. */
const REMEMBERED = 256

/** A row that was given to another belief, or to none, with what it said before. */
export interface GoneRow {
  readonly row: number
  readonly partition: PartitionId
  /** By number. */
  readonly holder: number
  readonly marks: readonly [number, number]
}

export interface RowChange {
  readonly entry: EntryKey
  /** Null: it came. */
  readonly gone: GoneRow | null
  /** Its place among the changes of all partitions. */
  readonly at: number
}

/** How far some partitions had changed: to ask with what changed since. */
export interface RowsMark {
  readonly clearings: number
  /** By place in the list of partitions. */
  readonly changes: Float64Array
}

interface List {
  rows: Int32Array
  count: number
  /** How often it changed. */
  changes: number
  /** The last ones. */
  log: RowChange[]
}

export class PartitionRows {
  readonly #lists = new Map<PartitionId, List>()
  /** How often all of it was thrown away. */
  #clearings = 0
  /** Changes so far, of all partitions. */
  #changes = 0

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

  mark(partitions: readonly PartitionId[]): RowsMark {
    const changes = Float64Array.from(partitions, partition => this.#lists.get(partition)?.changes ?? 0)
    return { clearings: this.#clearings, changes }
  }

  /** What changed in these partitions since, first what came first; null: too much to remember. */
  since({ clearings, changes }: RowsMark, partitions: readonly PartitionId[]): readonly RowChange[] | null {
    if (clearings !== this.#clearings) return null
    const found: RowChange[] = []
    for (const [at, partition] of partitions.entries()) {
      const list = this.#lists.get(partition)
      const more = (list?.changes ?? 0) - (changes[at] as number)
      if (list === undefined || more === 0) continue
      if (more > list.log.length) return null
      for (const change of list.log.slice(-more)) found.push(change)
    }
    // What moves from one partition to another is in the logs of both.
    return found.sort((one, other) => one.at - other.at)
  }

  /** Moves those behind it: mostly there are none, since rows are given in order. */
  add(partition: PartitionId, row: number, entry: EntryKey): void {
    const list = this.#listOf(partition)
    if (list.count === list.rows.length) list.rows = grown(list.rows, Math.ceil(list.rows.length * GROWTH))
    const at = placeIn(list.rows, row, list.count)
    list.rows.copyWithin(at + 1, at, list.count)
    list.rows[at] = row
    list.count++
    note(list, { entry, gone: null, at: this.#changes++ })
  }

  remove(entry: EntryKey, gone: GoneRow): void {
    const list = this.#listOf(gone.partition)
    const at = placeIn(list.rows, gone.row, list.count)
    list.rows.copyWithin(at, at + 1, list.count)
    list.count--
    note(list, { entry, gone, at: this.#changes++ })
  }

  /** After all was read nobody asks what changed on the way. */
  forgetChanges(): void {
    for (const list of this.#lists.values()) list.log = []
  }

  clear(): void {
    this.#clearings++
    // What is counted stays, lest a sum come twice.
    for (const list of this.#lists.values()) list.count = 0
    this.forgetChanges()
  }

  #listOf(partition: PartitionId): List {
    const known = this.#lists.get(partition)
    if (known !== undefined) return known
    const made = { rows: new Int32Array(FIRST), count: 0, changes: 0, log: [] }
    this.#lists.set(partition, made)
    return made
  }
}

function note(list: List, change: RowChange): void {
  list.changes++
  list.log.push(change)
  if (list.log.length === 2 * REMEMBERED) list.log = list.log.slice(REMEMBERED)
}
