/** The compiled vector kernel: its functions as TypeScript sees them, and the memory layout both sides agree on. */
import { readFileSync } from 'node:fs'

/** Addresses are byte offsets into the memory given; lists are u32 slots, extent tables pairs of u32 (first, count). */
export interface Kernel {
  configure(pages: number, pageBytes: number, width: number, int8At: number, scaleAt: number, entryAt: number): void
  /** Number of the first row that is not of unit length (or not finite), else -1. */
  encode(rows: number, slots: number, n: number): number
  prepareRotation(room: number): void
  encodeQuestion(question: number, to: number, planes: number): void
  /** Over all rows encoded: the largest ‖row - scale × int8‖ / scale, and the largest squared length. */
  maxResidual(): number
  maxSquare(): number
  setMaxima(residual: number, square: number): void
  select(extents: number, n: number, allow: number, to: number): number
  openCodes(question: number, counts: number, to: number, enough: number): void
  scanCodes(extents: number, n: number): void
  scanCodesOf(list: number, n: number): void
  closeCodes(): number
  /** Below 0: too few of the rows taken are allowed; -1 less the number of these. */
  closeCodesIn(allow: number, enough: number): number
  /** Address of the same rows, those first that agree best. */
  sortCodes(list: number, n: number, planes: number, room: number): number
  wholeLevels(least: number): number
  codesEnd(): number
  shareSince(mark: number, near: number, allow: number, counts: number): number
  keyOf(slot: number): number
  inverseLength(slot: number): number
  assign(list: number, n: number, pivots: number, inverses: number, m: number, room: number, to: number): void
  distances(question: number, extents: number, n: number, to: number): void
  setQuestion(at: number, perProduct: number, errorSlope: number, errorOffset: number): void
  /** `exact` 0: rows are kept by their values, as if these had no error. */
  openRank(k: number, heap: number, places: number, allow: number, to: number, least: number, exact: number): void
  rank(extents: number, n: number): void
  rankList(list: number, n: number): void
  closeRank(): number
  entered(): number
  entriesFound(): number
  values(list: number, n: number, to: number): void
}

/** Rows of a page; slot >> PAGE_SHIFT is a slot's page. */
export const PAGE_ROWS = 4096
export const PAGE_SHIFT = 12
/** Rows encoded by one call of the kernel. */
export const STAGE_ROWS = 64

export interface Layout {
  /** Components of a row, padded with zeros to a multiple of 64. */
  readonly width: number
  readonly codeBytes: number
  /** Where columns begin in a page. */
  readonly int8At: number
  readonly scaleAt: number
  readonly entryAt: number
  readonly chunkAt: number
  readonly nextAt: number
  readonly pageBytes: number
  /** Scratch, from address 0: question (f32), question as i16, as signs and in four bit planes, counters (twice), rotation, rows to encode. */
  readonly questionAt: number
  readonly question16At: number
  readonly questionCodeAt: number
  readonly questionPlanesAt: number
  readonly countsAt: number
  readonly rotationAt: number
  readonly nearCountsAt: number
  readonly stageAt: number
  readonly slotsAt: number
  readonly pagesAt: number
}

export function layoutOf(dimensions: number): Layout {
  const width = Math.ceil(dimensions / 64) * 64
  const [page, pageBytes] = placeAll({
    codeAt: PAGE_ROWS * (width >> 3),
    int8At: PAGE_ROWS * width,
    scaleAt: PAGE_ROWS * 4,
    entryAt: PAGE_ROWS * 4,
    chunkAt: PAGE_ROWS * 4,
    nextAt: PAGE_ROWS * 4,
  })
  const [scratch, scratchBytes] = placeAll({
    questionAt: width * 4,
    question16At: width * 2,
    questionCodeAt: width >> 3,
    questionPlanesAt: 4 * (width >> 3),
    countsAt: (width + 1) * 4,
    rotationAt: 4 * width * 4,
    nearCountsAt: (width + 1) * 4,
    stageAt: STAGE_ROWS * width * 4,
    slotsAt: STAGE_ROWS * 4,
  })
  return {
    width,
    codeBytes: width >> 3,
    ...page,
    pageBytes,
    ...scratch,
    pagesAt: Math.ceil(scratchBytes / 65536) * 65536,
  }
}

/** Parts of these sizes one after the other, each at a multiple of 64 bytes; and where they end. */
function placeAll<const T extends Record<string, number>>(sizes: T): [{ [K in keyof T]: number }, number] {
  let end = 0
  const places: Record<string, number> = {}
  for (const [name, size] of Object.entries(sizes)) {
    places[name] = end
    end += Math.ceil(size / 64) * 64
  }
  // Every key of `sizes` was just given a place.
  return [places as { [K in keyof T]: number }, end]
}

let compiled: WebAssembly.Module | undefined

/** An instance of the kernel over this memory. */
export function startKernel(memory: WebAssembly.Memory, layout: Layout): Kernel {
  compiled ??= new WebAssembly.Module(readFileSync(new URL('./kernel/kernel.wasm', import.meta.url)))
  // The committed binary is built from sources that export these functions; a test rebuilds and compares it.
  const kernel = new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel
  const { pagesAt, pageBytes, width, int8At, scaleAt, entryAt } = layout
  kernel.configure(pagesAt, pageBytes, width, int8At, scaleAt, entryAt)
  kernel.prepareRotation(layout.rotationAt)
  return kernel
}
