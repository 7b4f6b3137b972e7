/** Points on their way into an index, column by column: a million of them as objects would take five times the room. */
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { grownFloats, grownInts } from './points-arrays.ts'

export class PointColumns {
  entries: Int32Array
  partitions: Int32Array
  /** Three a point. */
  coordinates: Float64Array
  length = 0

  constructor(capacity: number) {
    this.entries = new Int32Array(capacity)
    this.partitions = new Int32Array(capacity)
    this.coordinates = new Float64Array(3 * capacity)
  }

  push(entry: EntryKey, partition: PartitionId, l: number, a: number, b: number): void {
    const at = this.length++
    if (at >= this.entries.length) {
      this.entries = grownInts(this.entries, at + 1024)
      this.partitions = grownInts(this.partitions, this.entries.length)
      this.coordinates = grownFloats(this.coordinates, 3 * this.entries.length)
    }
    this.entries[at] = entry
    this.partitions[at] = partition
    this.coordinates.set([l, a, b], 3 * at)
  }
}
