/**
 * Points in blocks. A block holds the points of one partition in one cell of the grid, or in an eighth of a cell if the cell had many
 * points; blocks are numbered at their first use. Above the blocks are regions, cubes of several cells, which let a search exclude most
 * blocks at once.
 */
import { must } from '../../base/assert.ts'
import { Columns } from '../../base/columns.ts'
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { Boxes, cellOf, denseCells, type Point, type PointArrays, partOf, pointAt, regionOfCell } from './grid.ts'

export type BlockNumber = number
type RegionNumber = number

/** Number of points that are loaded into blocks between two possible pauses. */
const POINTS_AT_ONCE = 1 << 14

const NOTHING: ReadonlySet<number> = new Set()

/**
 * The blocks (groups of points near each other), the regions (cubes of several grid cells) and the number of points of one partition of a
 * point index.
 */
export interface PartitionPoints {
  readonly partition: PartitionId
  readonly blocks: Map<number, BlockNumber>
  /**
   * Numbers of the grid cells that are divided into eight blocks each, because they had many points when the index was last loaded as a
   * whole. The division stays until the next such load; points added before then go into these blocks.
   */
  readonly parted: ReadonlySet<number>
  readonly regions: Map<number, RegionNumber>
  points: number
}

interface Block {
  readonly of: PartitionPoints
  readonly region: RegionNumber
  first: Slot
  size: number
  points: number
}

export interface PointRow {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly point: Point
}

export class PointBlocks {
  readonly runs: PointRuns = new PointRuns()
  readonly boxes: Boxes = new Boxes()
  readonly regionBoxes: Boxes = new Boxes()
  readonly #blocks: Block[] = []
  readonly #regions: BlockNumber[][] = []
  readonly #partitions = new Map<PartitionId, PartitionPoints>()
  /** Slot and block of each entry's point, by entry key. Each number is stored plus 1, so that 0 means that the entry has no point. */
  readonly #places = new Columns({ slots: { of: Int32Array }, blocks: { of: Int32Array } })

  /** Blocks (groups of points near each other) are numbered from 0; all block numbers in use are below this number. */
  get count(): number {
    return this.#blocks.length
  }

  get points(): number {
    let points = 0
    for (const of of this.#partitions.values()) points += of.points
    return points
  }

  get byteLength(): number {
    const parts = [this.runs, this.boxes, this.regionBoxes, this.#places]
    return parts.reduce((sum, { byteLength }) => sum + byteLength, 160 * this.count)
  }

  get partitions(): Iterable<PartitionPoints> {
    return this.#partitions.values()
  }

  /** The records of those given partitions that have points, each partition once. */
  within(partitions: readonly PartitionId[]): PartitionPoints[] {
    return [...new Set(partitions)]
      .map(id => this.#partitions.get(id))
      .filter(of => of !== undefined && of.points > 0) as PartitionPoints[]
  }

  /** Number of the memory slot that holds the entry's point; -1 if the entry has no point. */
  slotOf(entry: EntryKey): Slot {
    return (this.#places.arrays.slots[entry] ?? 0) - 1
  }

  /** Number of the block (a group of points near each other) that contains the entry's point; -1 if the entry has no point. */
  blockOf(entry: EntryKey): BlockNumber {
    return (this.#places.arrays.blocks[entry] ?? 0) - 1
  }

  block(block: BlockNumber): Readonly<Block> {
    return must(this.#blocks[block], 'a block')
  }

  blocksOf(region: RegionNumber): readonly BlockNumber[] {
    return must(this.#regions[region], 'a region')
  }

  /** Entries whose points are in the block, in no particular order. */
  entriesIn(block: BlockNumber): Int32Array {
    const { first, points } = this.block(block)
    return this.runs.arrays.entries.subarray(first, first + points)
  }

  /**
   * Loads all points into this empty index, with pauses between steps. The points of each block are counted first, so that its memory is
   * allocated only once.
   */
  *load(all: PointArrays): Steps<void> {
    // Dense cells are divided into eight parts once; dividing dense parts further made searches among a million points slower.
    for (const [partition, cells] of yield* denseCells(all)) this.#partitionOf(partition, cells)
    const { length, entries, partitions, coordinates } = all
    const blocks = new Int32Array(length)
    const points: number[] = []
    for (let at = 0; at < length; at++) {
      const block = this.#blockFor(partitions[at] as PartitionId, pointAt(coordinates, at))
      blocks[at] = block
      points[block] = (points[block] ?? 0) + 1
      if ((at + 1) % POINTS_AT_ONCE === 0) yield
    }
    this.runs.expect(points.reduce((slots, count) => slots + PointRuns.sizeFor(count), 0))
    for (const [at, block] of this.#blocks.entries()) this.#resize(block, PointRuns.sizeFor(points[at] as number))
    yield
    for (let at = 0; at < length; at++) {
      this.#append(entries[at] as EntryKey, blocks[at] as BlockNumber, pointAt(coordinates, at))
      if ((at + 1) % POINTS_AT_ONCE === 0) yield
    }
  }

  /** Adds the point of an entry that has no point yet. */
  add({ entry, partition, point }: PointRow): void {
    this.#append(entry, this.#blockFor(partition, point), point)
  }

  remove(entry: EntryKey): void {
    const slot = this.slotOf(entry)
    if (slot < 0) return
    const number = this.blockOf(entry)
    const block = must(this.#blocks[number], 'a block')
    const [l, a, b] = this.pointAt(slot)
    const last = block.first + block.points - 1
    const { slots, blocks } = this.#places.arrays
    if (slot !== last) {
      this.runs.copy(last, slot, 1)
      slots[this.runs.arrays.entries[slot] as number] = slot + 1
    }
    this.runs.wipe(last, 1)
    slots[entry] = 0
    blocks[entry] = 0
    block.points--
    block.of.points--
    if (this.boxes.isOnFace(number, l, a, b)) this.#tighten(number, block)
  }

  pointAt(slot: Slot): Point {
    return pointAt(this.runs.arrays.coordinates, slot)
  }

  #append(entry: EntryKey, number: BlockNumber, [l, a, b]: Point): void {
    const block = must(this.#blocks[number], 'a block')
    if (block.points === block.size) this.#resize(block, PointRuns.sizeFor(block.points + 1))
    const slot = block.first + block.points
    this.runs.write(slot, entry, l, a, b)
    this.#places.reserve(entry + 1)
    const { slots, blocks } = this.#places.arrays
    slots[entry] = slot + 1
    blocks[entry] = number + 1
    this.boxes.include(number, l, a, b)
    this.regionBoxes.include(block.region, l, a, b)
    block.points++
    block.of.points++
  }

  #blockFor(partition: PartitionId, [l, a, b]: Point): BlockNumber {
    const of = this.#partitionOf(partition)
    const whole = cellOf(l, a, b)
    const cell = of.parted.has(whole) ? partOf(l, a, b) : whole
    const known = of.blocks.get(cell)
    if (known !== undefined) return known
    const number = this.#blocks.length
    const region = this.#regionFor(of, regionOfCell(whole))
    this.#blocks.push({ of, region, first: 0, size: 0, points: 0 })
    this.boxes.clear(number)
    of.blocks.set(cell, number)
    must(this.#regions[region], 'a region').push(number)
    return number
  }

  /**
   * The record of a partition's blocks (groups of points); created if there is none. `parted`: for a new record, the numbers of the grid
   * cells that are divided into eight blocks each.
   */
  #partitionOf(partition: PartitionId, parted: ReadonlySet<number> = NOTHING): PartitionPoints {
    const known = this.#partitions.get(partition)
    if (known !== undefined) return known
    const made = { partition, blocks: new Map(), parted, regions: new Map(), points: 0 }
    this.#partitions.set(partition, made)
    return made
  }

  #regionFor(of: PartitionPoints, place: number): RegionNumber {
    const known = of.regions.get(place)
    if (known !== undefined) return known
    const number = this.#regions.length
    this.#regions.push([])
    this.regionBoxes.clear(number)
    of.regions.set(place, number)
    return number
  }

  #resize(block: Block, size: number): void {
    const first = this.runs.take(size)
    if (block.size > 0) {
      this.runs.copy(block.first, first, block.points)
      this.runs.wipe(block.first, block.points)
      this.runs.give(block.first, block.size)
      const { slots } = this.#places.arrays
      const { entries } = this.runs.arrays
      for (let at = 0; at < block.points; at++) slots[entries[first + at] as number] = first + at + 1
    }
    block.first = first
    block.size = size
  }

  /** Computes the bounding boxes of a block and of its region again, after a point on the surface of its box was removed. */
  #tighten(number: BlockNumber, block: Block): void {
    this.boxes.clear(number)
    for (let at = 0; at < block.points; at++) this.boxes.include(number, ...this.pointAt(block.first + at))
    this.regionBoxes.clear(block.region)
    for (const other of this.blocksOf(block.region)) this.regionBoxes.includeBox(block.region, this.boxes, other)
  }
}

// Memory of the points. The points of a block are in one run of consecutive slots, so that reading a block reads memory sequentially. When
// a run is full, its points move to a longer run, and the old slots are reused for other blocks.

type Slot = number

const SMALLEST_RUN = 4

/** Columns of the slots: three coordinates and the entry key of the point. */
const POINT = { coordinates: { of: Float64Array, width: 3 }, entries: { of: Int32Array } } as const

class PointRuns extends Columns<typeof POINT> {
  #end = 0
  /** First slots of the runs of slots that are free, by length of the run. */
  readonly #free = new Map<number, Slot[]>()

  constructor() {
    super(POINT, 64)
  }

  /** Length of the run of slots for this number of points, with some slots spare: 4, 6, 8, 12, 16, 24 and so on. */
  static sizeFor(points: number): number {
    const power = Math.max(SMALLEST_RUN, 2 ** Math.ceil(Math.log2(points)))
    return power > SMALLEST_RUN && points <= 0.75 * power ? 0.75 * power : power
  }

  /** Allocates memory for this number of further slots at once, when the number is known in advance. */
  expect(slots: number): void {
    this.reserve(this.#end + slots)
  }

  /** Allocates a run of `size` slots, which must be a length that `sizeFor` returns; returns the first slot. */
  take(size: number): Slot {
    const free = this.#free.get(size)?.pop()
    if (free !== undefined) return free
    this.expect(size)
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
    const { coordinates, entries } = this.arrays
    entries[slot] = entry
    coordinates[3 * slot] = l
    coordinates[3 * slot + 1] = a
    coordinates[3 * slot + 2] = b
  }

  copy(from: Slot, to: Slot, count: number): void {
    this.arrays.entries.copyWithin(to, from, from + count)
    this.arrays.coordinates.copyWithin(3 * to, 3 * from, 3 * (from + count))
  }

  /** Overwrites slots with zeros, so that deleted points do not remain in memory. */
  wipe(first: Slot, count: number): void {
    this.arrays.entries.fill(0, first, first + count)
    this.arrays.coordinates.fill(0, 3 * first, 3 * (first + count))
  }
}
