/**
 * The image of a vector index, its serialised form: a JSON header, then for each partition the columns of its rows, one after the other.
 * Only rows that exist are written, so a snapshot contains no deleted data.
 */
import { StepPace, type Steps } from '../../base/turns.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Layout } from '../kernel.ts'
import {
  checkEntryKeys,
  checkIdentity,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
} from '../snapshot.ts'
import { type Block, type Cell, type CellLimits, cellsOf, newCell, pivotOf, slotsOf } from './cells.ts'
import type { VectorRows } from './rows.ts'

/** Number of rows that are created or examined between two possible pauses. */
const ROWS_AT_ONCE = 1 << 14

/**
 * Version of the serialised form of a vector index. Since 2, sign codes are those of rotated vectors; since 3, rows are in the order of the
 * cells.
 */
const FORMAT = 3

interface Header {
  readonly format: number
  readonly model: string
  readonly dimensions: number
  /**
   * Maxima over all rows, from which error bounds are computed: `residual` is the largest ‖vector - scale × int8 components‖ / scale,
   * `square` the largest squared length of a vector.
   */
  readonly residual: number
  readonly square: number
  readonly pivotEvery: number
  /**
   * For each partition: its id; its number of rows (encoded vectors) that are in no cell; and for each cell (group of similar rows) the
   * number of rows and the hash of its pivot, the row at its centre.
   */
  readonly blocks: readonly BlockHeader[]
}

type Identity = Pick<Header, 'format' | 'model' | 'dimensions' | 'pivotEvery'>

type BlockHeader = readonly [PartitionId, number, readonly (readonly [number, number])[]]

/** The serialised form of the index, as views of the memory of its rows; it must be written before rows change again. */
export function imageOf(rows: VectorRows, limits: CellLimits): Uint8Array[] {
  const blocks = [...rows.blocks]
  const identity = identityOf(rows, limits)
  const header: Header = { ...identity, ...maximaOf(rows), blocks: blocks.map(blockHeader) }
  const columns = columnsOf(rows.memory.layout)
  return [headerBytes(header), ...blocks.flatMap(block => columns.flatMap(column => stretches(rows, block, column)))]
}

/**
 * Reads the serialised form of a vector index into `rows`, which must be empty, with pauses between steps. Throws if the bytes are not the
 * image of this index at this position of the change feed.
 */
export function* readImage(bytes: Uint8Array, rows: VectorRows, limits: CellLimits, position: number): Steps<void> {
  const { header, end } = readHeader(bytes)
  checkIdentity(header, identityOf(rows, limits))
  const { blocks, residual, square } = header as unknown as Header
  if (!(Array.isArray(blocks) && blocks.every(isBlockHeader))) throw refusedImage(blocks, 'counts of rows')
  const columns = columnsOf(rows.memory.layout)
  const rowBytes = columns.reduce((sum, column) => sum + column.size, 0)
  checkLength(bytes, end + blocks.reduce((sum, block) => sum + countOf(block) * rowBytes, 0))
  rows.memory.kernel.setMaxima(residual, square)
  let at = end
  for (const written of blocks) {
    const count = countOf(written)
    // The keys are copied, because the bytes may begin at an address that is no multiple of 4.
    const keys = new Uint32Array(new Uint8Array(bytes.subarray(at, at + count * 8)).buffer)
    checkEntryKeys(keys.subarray(0, count), position)
    const block = yield* appendRows(rows, written, keys)
    for (const column of columns) {
      for (const stretch of stretches(rows, block, column)) {
        stretch.set(bytes.subarray(at, at + stretch.byteLength))
        at += stretch.byteLength
      }
      yield
    }
    yield* findPivots(rows, block)
  }
}

function blockHeader(block: Block): BlockHeader {
  return [block.partition, block.home.rows, block.cells.map(cell => [cell.rows, pivotOf(cell).key])]
}

function countOf([, atHome, cells]: BlockHeader): number {
  return cells.reduce((sum, [count]) => sum + count, atHome)
}

/** Creates the rows of a partition without their vectors. `keys`: the entry keys of all rows, then their chunk keys. */
function* appendRows(rows: VectorRows, [partition, atHome, cells]: BlockHeader, keys: Uint32Array): Steps<Block> {
  const block = rows.blockFor(partition)
  const count = keys.length / 2
  let row = 0
  function* fill(cell: Cell, size: number): Steps<void> {
    cell.coming = size
    for (let i = 0; i < size; i++, row++) {
      rows.append(cell, keys[row] as number, keys[count + row] as number)
      if ((row + 1) % ROWS_AT_ONCE === 0) yield
    }
  }
  yield* fill(block.home, atHome)
  for (const [size, key] of cells) {
    const cell = newCell(block, { key, inverse: 0, slot: -1 })
    block.cells.push(cell)
    yield* fill(cell, size)
  }
  return block
}

function* findPivots(rows: VectorRows, block: Block): Steps<void> {
  if (block.cells.length === 0) return
  const { kernel } = rows.memory
  const pace = new StepPace(ROWS_AT_ONCE)
  const missing = new Map(block.cells.map(cell => [pivotOf(cell).key, cell]))
  for (const cell of cellsOf(block)) {
    for (const slot of slotsOf(cell)) {
      if (pace.isOver(1)) yield
      const key = kernel.keyOf(slot)
      const about = missing.get(key)
      if (about === undefined) continue
      pivotOf(about).inverse = kernel.inverseLength(slot)
      rows.setPivot(about, slot)
      missing.delete(key)
    }
  }
  if (missing.size > 0) throw invalidArgument('snapshot.blocks', missing.size, 'a row for every pivot')
}

interface Column {
  readonly at: number
  /** Number of bytes that the column has for each row. */
  readonly size: number
}

/**
 * The columns (one value of every row) in the order in which they are written to the image. Entry and chunk keys come first, because rows
 * are created from them. The links between the rows of an entry are not written, because creating the rows makes them again.
 */
function columnsOf(layout: Layout): Column[] {
  const { entryAt, chunkAt, scaleAt, int8At, width, codeBytes } = layout
  return [
    { at: entryAt, size: 4 },
    { at: chunkAt, size: 4 },
    { at: scaleAt, size: 4 },
    { at: 0, size: codeBytes },
    { at: int8At, size: width },
  ]
}

/** One column of a partition's rows in memory, as one view for each extent. */
function stretches(rows: VectorRows, block: Block, { at, size }: Column): Uint8Array[] {
  return [...cellsOf(block)].flatMap(cell => {
    let left = cell.rows
    return cell.extents.map(extent => {
      const count = Math.min(left, extent.size)
      left -= count
      const start = rows.memory.address(extent.first, at, size)
      return rows.memory.bytes.subarray(start, start + count * size)
    })
  })
}

function identityOf(rows: VectorRows, { pivotEvery }: CellLimits): Identity {
  return { format: FORMAT, model: rows.model, dimensions: rows.dimensions, pivotEvery }
}

function maximaOf({ memory: { kernel } }: VectorRows): Pick<Header, 'residual' | 'square'> {
  return { residual: kernel.maxResidual(), square: kernel.maxSquare() }
}

function isBlockHeader(block: unknown): block is BlockHeader {
  if (!Array.isArray(block) || block.length !== 3) return false
  const [partition, atHome, cells] = block as readonly unknown[]
  const isCell = (cell: unknown) => Array.isArray(cell) && cell.length === 2 && cell.every(isCount)
  return isCount(partition) && isCount(atHome) && Array.isArray(cells) && cells.every(isCell)
}
