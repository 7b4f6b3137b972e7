/**
 * The grid that points are sorted into: cubes over the colour space (L 0 to 100, a and b -128 to 127). What lies outside
 * falls to the cube at the border; only speed depends on it, as blocks know their true extent.
 */

/** Edge of a cell. 4 and 6 were slower everywhere; 12 a little quicker, but half as quick where a few entries are worth much more than others. */
export const CELL = 8
/** Cells along each edge of a region. */
const STRIDE = 4

const ROWS_L = Math.ceil(101 / CELL)
const ROWS_AB = Math.ceil(256 / CELL)
const REGIONS_AB = Math.ceil(ROWS_AB / STRIDE)

export function cellOf(l: number, a: number, b: number): number {
  return (rowOf(l, ROWS_L) * ROWS_AB + rowOf(a + 128, ROWS_AB)) * ROWS_AB + rowOf(b + 128, ROWS_AB)
}

/** The region, a cube of cells, that a cell belongs to. */
export function regionOfCell(cell: number): number {
  const l = Math.floor(cell / (ROWS_AB * ROWS_AB) / STRIDE)
  const a = Math.floor((Math.floor(cell / ROWS_AB) % ROWS_AB) / STRIDE)
  const b = Math.floor((cell % ROWS_AB) / STRIDE)
  return (l * REGIONS_AB + a) * REGIONS_AB + b
}

function rowOf(fromLowest: number, rows: number): number {
  return Math.max(0, Math.min(rows - 1, Math.floor(fromLowest / CELL)))
}
