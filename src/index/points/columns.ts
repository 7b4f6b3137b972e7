/** Points on their way into an index, column by column: a million of them as objects would take five times the room. */

import { grown } from '../../base/grown.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'

export type Point = readonly [number, number, number]

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

  pointAt(at: number): Point {
    const { coordinates } = this
    return [coordinates[3 * at] as number, coordinates[3 * at + 1] as number, coordinates[3 * at + 2] as number]
  }

  push(entry: EntryKey, partition: PartitionId, l: number, a: number, b: number): void {
    const at = this.length++
    if (at >= this.entries.length) {
      this.entries = grown(this.entries, at + 1024)
      this.partitions = grown(this.partitions, this.entries.length)
      this.coordinates = grown(this.coordinates, 3 * this.entries.length)
    }
    this.entries[at] = entry
    this.partitions[at] = partition
    this.coordinates.set([l, a, b], 3 * at)
  }
}
