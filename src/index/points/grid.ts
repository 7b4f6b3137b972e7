/**
 * The grid of cells that points are sorted into: cubes of the colour space (L 0 to 100, a and b -128 to 127). A point outside this space is
 * put into the nearest cell at the border; this affects only speed, because each block of points has an exact bounding box.
 */
import { Columns, grown } from '../../base/columns.ts'
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { PointSearch } from '../contract.ts'

/**
 * Edge length of a grid cell, in units of the colour space. Measured: 4 and 6 were slower in all searches; 12 was a little faster, but half
 * as fast if a few entries score much higher than others.
 */
export const CELL = 8
/** Number of cells along each edge of a region, a cube of cells. */
const STRIDE = 4

const ROWS_L = Math.ceil(101 / CELL)
const ROWS_AB = Math.ceil(256 / CELL)
const REGIONS_AB = Math.ceil(ROWS_AB / STRIDE)

/** Added to the number of a block that is an eighth of a grid cell, so that this number differs from the numbers of all whole cells. */
const PARTS = 2 ** 24

export function cellOf(l: number, a: number, b: number): number {
  return placeOf(l, a, b, CELL, 1)
}

/** Number of the eighth of a grid cell in which the point lies; it differs from the number of every whole cell. */
export function partOf(l: number, a: number, b: number): number {
  return PARTS + placeOf(l, a, b, CELL / 2, 2)
}

/** Number of the region (a cube of `STRIDE` cells along each edge) that a grid cell belongs to. */
export function regionOfCell(cell: number): number {
  const l = Math.floor(cell / (ROWS_AB * ROWS_AB) / STRIDE)
  const a = Math.floor((Math.floor(cell / ROWS_AB) % ROWS_AB) / STRIDE)
  const b = Math.floor((cell % ROWS_AB) / STRIDE)
  return (l * REGIONS_AB + a) * REGIONS_AB + b
}

/**
 * Number of the cube in which the point lies. `edge`: edge length of the cubes. `parts`: number of cubes along each edge of a grid cell (1
 * if the cubes are whole cells).
 */
function placeOf(l: number, a: number, b: number, edge: number, parts: number): number {
  const [rowsL, rowsAb] = [ROWS_L * parts, ROWS_AB * parts]
  return (rowOf(l, edge, rowsL) * rowsAb + rowOf(a + 128, edge, rowsAb)) * rowsAb + rowOf(b + 128, edge, rowsAb)
}

function rowOf(fromLowest: number, edge: number, rows: number): number {
  return Math.max(0, Math.min(rows - 1, Math.floor(fromLowest / edge)))
}

export type Point = readonly [number, number, number]

export interface PointArrays {
  readonly entries: Int32Array
  readonly partitions: Int32Array
  /** Coordinates of the points, three numbers per point. */
  readonly coordinates: Float64Array
  /** Number of points; the arrays may have unused elements after them. */
  readonly length: number
}

/** A growing list of points with their entries and partitions, in the order in which they are read. */
export class PointList {
  readonly #columns: Columns<typeof POINT_COLUMNS>
  #length = 0

  constructor(capacity: number) {
    this.#columns = new Columns(POINT_COLUMNS, capacity)
  }

  get arrays(): PointArrays {
    return { ...this.#columns.arrays, length: this.#length }
  }

  push(entry: EntryKey, partition: PartitionId, point: Point): void {
    const at = this.#length++
    this.#columns.reserve(at + 1)
    const { entries, partitions, coordinates } = this.#columns.arrays
    entries[at] = entry
    partitions[at] = partition
    coordinates.set(point, 3 * at)
  }
}

const POINT_COLUMNS = {
  entries: { of: Int32Array },
  partitions: { of: Int32Array },
  coordinates: { of: Float64Array, width: 3 },
} as const

export function pointAt(coordinates: Float64Array, at: number): Point {
  return [coordinates[3 * at] as number, coordinates[3 * at + 1] as number, coordinates[3 * at + 2] as number]
}

export function checkPointSearch({ point, k, maxDistance }: PointSearch): void {
  for (const coordinate of point) {
    if (!Number.isFinite(coordinate)) throw invalidArgument('point', coordinate, 'three finite numbers')
  }
  if (!(k === Number.POSITIVE_INFINITY || (Number.isInteger(k) && k >= 0))) {
    throw invalidArgument('k', k, 'a whole number, 0 or more, or infinity')
  }
  if (maxDistance !== undefined && !(maxDistance >= 0)) throw invalidArgument('maxDistance', maxDistance, '0 or more')
}

export class Boxes {
  #bounds = new Float64Array(6 * 64)

  get byteLength(): number {
    return this.#bounds.byteLength
  }

  clear(box: number): void {
    const at = 6 * box
    if (at + 6 > this.#bounds.length) this.#bounds = grown(this.#bounds, at + 6)
    for (let axis = 0; axis < 6; axis += 2) {
      this.#bounds[at + axis] = Number.POSITIVE_INFINITY
      this.#bounds[at + axis + 1] = Number.NEGATIVE_INFINITY
    }
  }

  include(box: number, l: number, a: number, b: number): void {
    this.#stretch(6 * box, l, l)
    this.#stretch(6 * box + 2, a, a)
    this.#stretch(6 * box + 4, b, b)
  }

  /** Enlarges a bounding box so that it contains a box of another set of boxes. */
  includeBox(box: number, others: Boxes, other: number): void {
    const bounds = others.#bounds
    for (let axis = 0; axis < 6; axis += 2) {
      this.#stretch(6 * box + axis, bounds[6 * other + axis] as number, bounds[6 * other + axis + 1] as number)
    }
  }

  /** Whether the bounding box might shrink if this point were removed: the point lies on its surface. */
  isOnFace(box: number, l: number, a: number, b: number): boolean {
    return this.#ends(6 * box, l) || this.#ends(6 * box + 2, a) || this.#ends(6 * box + 4, b)
  }

  /**
   * Distance from the point to the nearest position in the bounding box; 0 inside. Computed with the same floating-point operations as
   * distances between points, so that rounding never makes it larger than the distance to a point in the box.
   */
  distance(box: number, l: number, a: number, b: number): number {
    const bounds = this.#bounds
    const at = 6 * box
    const dl = outside(l, bounds[at] as number, bounds[at + 1] as number)
    const da = outside(a, bounds[at + 2] as number, bounds[at + 3] as number)
    const db = outside(b, bounds[at + 4] as number, bounds[at + 5] as number)
    return Math.sqrt(dl * dl + da * da + db * db)
  }

  #stretch(at: number, low: number, high: number): void {
    const bounds = this.#bounds
    if (low < (bounds[at] as number)) bounds[at] = low
    if (high > (bounds[at + 1] as number)) bounds[at + 1] = high
  }

  #ends(at: number, value: number): boolean {
    return value === this.#bounds[at] || value === this.#bounds[at + 1]
  }
}

function outside(value: number, low: number, high: number): number {
  return value < low ? low - value : value > high ? value - high : 0
}

/**
 * Number of points of one partition in a cell from which the cell counts as dense and is divided. Measured: with 64 more blocks were
 * searched, with 256 more points were scored.
 */
const MIN_DENSE = 97

/** Number of points that are assigned to cells between two possible pauses. */
const POINTS_AT_ONCE = 1 << 14

/** Numbers of the cells of each partition that have many points, at least `MIN_DENSE`. Pauses between groups of points. */
export function* denseCells({
  partitions,
  coordinates,
  length,
}: PointArrays): Steps<ReadonlyMap<PartitionId, ReadonlySet<number>>> {
  const counts = new Map<PartitionId, Map<number, number>>()
  const dense = new Map<PartitionId, Set<number>>()
  for (let at = 0; at < length; at++) {
    if ((at + 1) % POINTS_AT_ONCE === 0) yield
    const partition = partitions[at] as PartitionId
    const cells = counts.get(partition) ?? new Map<number, number>()
    if (cells.size === 0) counts.set(partition, cells)
    const [l, a, b] = pointAt(coordinates, at)
    const cell = cellOf(l, a, b)
    const count = (cells.get(cell) ?? 0) + 1
    cells.set(cell, count)
    if (count !== MIN_DENSE) continue
    const denseHere = dense.get(partition) ?? new Set<number>()
    dense.set(partition, denseHere.add(cell))
  }
  return dense
}
