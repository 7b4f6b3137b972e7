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

/** Above the number of every cell. */
const PARTS = 2 ** 24

export function cellOf(l: number, a: number, b: number): number {
  return placeOf(l, a, b, CELL, 1)
}

/** Of the eight parts of a cell, the one that the point lies in: a number that no cell has. */
export function partOf(l: number, a: number, b: number): number {
  return PARTS + placeOf(l, a, b, CELL / 2, 2)
}

/** The region, a cube of cells, that a cell belongs to. */
export function regionOfCell(cell: number): number {
  const l = Math.floor(cell / (ROWS_AB * ROWS_AB) / STRIDE)
  const a = Math.floor((Math.floor(cell / ROWS_AB) % ROWS_AB) / STRIDE)
  const b = Math.floor((cell % ROWS_AB) / STRIDE)
  return (l * REGIONS_AB + a) * REGIONS_AB + b
}

/** Cells of this edge; `parts` along each edge of a whole one. */
function placeOf(l: number, a: number, b: number, edge: number, parts: number): number {
  const [rowsL, rowsAb] = [ROWS_L * parts, ROWS_AB * parts]
  return (rowOf(l, edge, rowsL) * rowsAb + rowOf(a + 128, edge, rowsAb)) * rowsAb + rowOf(b + 128, edge, rowsAb)
}

function rowOf(fromLowest: number, edge: number, rows: number): number {
  return Math.max(0, Math.min(rows - 1, Math.floor(fromLowest / edge)))
}
