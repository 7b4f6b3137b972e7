/**
 * Where points lie in memory: each block's in one run of slots, so that looking at a block reads memory in order. A run
 * that is full moves to a larger one; what it left is used again.
 */
import { grown } from '../../base/grown.ts'

export type Slot = number

const SMALLEST_RUN = 4

export class PointRuns {
  /** Three numbers a slot. */
  coordinates: Float64Array = new Float64Array(3 * 64)
  /** Entry key by slot. */
  entries: Int32Array = new Int32Array(64)
  #end = 0
  /** First slots of runs that are free, by size. */
  readonly #free = new Map<number, Slot[]>()

  get byteLength(): number {
    return this.coordinates.byteLength + this.entries.byteLength
  }

  /** Slots that a run for so many points has: 4, 6, 8, 12, 16, 24 and so on. */
  static sizeFor(points: number): number {
    const power = Math.max(SMALLEST_RUN, 2 ** Math.ceil(Math.log2(points)))
    return power > SMALLEST_RUN && points <= 0.75 * power ? 0.75 * power : power
  }

  /** Makes room for `slots` more at once, where their number is known. */
  reserve(slots: number): void {
    const end = this.#end + slots
    if (end <= this.entries.length) return
    this.entries = grown(this.entries, end)
    this.coordinates = grown(this.coordinates, 3 * this.entries.length)
  }

  /** First slot of a free run of a size that `sizeFor` gave. */
  take(size: number): Slot {
    const free = this.#free.get(size)?.pop()
    if (free !== undefined) return free
    this.reserve(size)
    const first = this.#end
    this.#end += size
    return first
  }

  give(first: Slot, size: number): void {
    const free = this.#free.get(size)
    if (free === undefined) this.#free.set(size, [first])
    else free.push(first)
  }

  write(slot: Slot, entry: number, l: number, a: number, b: number): void {
    this.entries[slot] = entry
    this.coordinates[3 * slot] = l
    this.coordinates[3 * slot + 1] = a
    this.coordinates[3 * slot + 2] = b
  }

  copy(from: Slot, to: Slot, count: number): void {
    this.entries.copyWithin(to, from, from + count)
    this.coordinates.copyWithin(3 * to, 3 * from, 3 * (from + count))
  }

  /** What was deleted is not to be found in memory. */
  wipe(first: Slot, count: number): void {
    this.entries.fill(0, first, first + count)
    this.coordinates.fill(0, 3 * first, 3 * (first + count))
  }
}
