/**
 * Rows by partition, ascending: what somebody sees is walked through without a look at what he does not, so that hidden beliefs
 * cost him nothing (BQ-195).
 */
import { placeIn } from '../../../base/ascending.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { grown } from './grown.ts'

const FIRST = 16
const GROWTH = 1.5
const NONE = new Int32Array(0)

interface List {
  rows: Int32Array
  count: number
  /** How often it changed. */
  changes: number
}

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
    if (list.count === list.rows.length) list.rows = grown(list.rows, Math.ceil(list.rows.length * GROWTH))
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
