/**
 * TypeScript interface of the vector kernel (WebAssembly code that encodes and searches vectors), and the layout of the memory that the
 * kernel shares with the JavaScript code around it.
 */
import { readFileSync } from 'node:fs'

/**
 * Functions of the vector kernel. Addresses are byte offsets into the shared memory. A slot (u32) is the place of one encoded vector (row)
 * in memory. A list is an array of slots. An extent table describes runs of consecutive slots as pairs of u32 (first slot, number of
 * slots).
 */
export interface Kernel {
  configure(pages: number, pageBytes: number, width: number, int8At: number, scaleAt: number, entryAt: number): void
  /**
   * Encodes vectors into rows. Returns the number of the first vector that is not of unit length or not finite, or -1 if all were encoded.
   */
  encode(rows: number, slots: number, n: number): number
  prepareRotation(room: number): void
  encodeQuestion(question: number, to: number, planes: number): void
  /**
   * Maxima over all vectors encoded so far, for bounds on the error of scores: `maxResidual` is the largest ‖vector - scale × int8
   * components‖ / scale, `maxSquare` the largest squared length of a vector.
   */
  maxResidual(): number
  maxSquare(): number
  setMaxima(residual: number, square: number): void
  select(extents: number, n: number, allow: number, to: number): number
  openCodes(question: number, counts: number, to: number, enough: number): void
  scanCodes(extents: number, n: number): void
  scanCodesOf(list: number, n: number): void
  closeCodes(): number
  /**
   * Ends the search by sign codes (one bit per component) and keeps only encoded vectors whose entry is allowed. Returns how many were
   * kept. If fewer than `enough` were kept, and vectors left out as too far from the query may also be allowed, returns -1 minus that
   * number.
   */
  closeCodesIn(allow: number, enough: number): number
  /**
   * Sorts the listed rows (encoded vectors) by the inner product of their sign codes (one bit per component) with the quantised query,
   * greatest first. Returns the address of the sorted list.
   */
  sortCodes(list: number, n: number, planes: number, room: number): number
  wholeLevels(least: number): number
  codesEnd(): number
  shareSince(mark: number, near: number, allow: number, counts: number): number
  keyOf(slot: number): number
  inverseLength(slot: number): number
  /**
   * For each of the `n` listed rows (encoded vectors), writes the position of its nearest pivot to `to`. `room`: space for `ASSIGNED_ROWS`
   * rows as i16 and as many f64.
   */
  assign(list: number, n: number, pivots: number, inverses: number, m: number, room: number, to: number): void
  distances(question: number, extents: number, n: number, to: number): void
  setQuestion(at: number, perProduct: number, errorSlope: number, errorOffset: number): void
  /**
   * Begins a search for the best rows (encoded vectors) by their int8 components. `exact` 1: rounding errors are taken into account, so
   * that none of the k best is missed. 0: scores from int8 components are treated as exact.
   */
  openRank(k: number, heap: number, places: number, allow: number, to: number, least: number, exact: number): void
  rank(extents: number, n: number): void
  rankList(list: number, n: number): void
  closeRank(): number
  entered(): number
  entriesFound(): number
  values(list: number, n: number, to: number): void
}

/**
 * Number of rows (encoded vectors) in a page of memory. A row's slot is its position over all pages, so slot >> PAGE_SHIFT is the number of
 * its page.
 */
export const PAGE_ROWS = 4096
export const PAGE_SHIFT = 12
/** Number of rows that `assign` compares with a pivot at once. */
export const ASSIGNED_ROWS = 4
/** Number of vectors that one call of the kernel encodes. */
export const STAGE_ROWS = 64

export interface Layout {
  /** Number of components of a stored vector: its dimensions rounded up to a multiple of 64, with zeros in the added components. */
  readonly width: number
  readonly codeBytes: number
  /**
   * A page of memory stores its rows (encoded vectors) column by column: first one value of all rows, then the next. These are the byte
   * offsets of the columns from the beginning of the page.
   */
  readonly int8At: number
  readonly scaleAt: number
  readonly entryAt: number
  readonly chunkAt: number
  readonly nextAt: number
  readonly pageBytes: number
  /**
   * Addresses of the kernel's working areas, which are placed from address 0 on: the query as f32, as i16, as sign bits and as four bit
   * planes; two tables of counters; the random signs of the rotation; vectors waiting to be encoded, and the slots (places) for them.
   */
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

/**
 * Places regions of these sizes one after the other, each at a multiple of 64 bytes. Returns the offset of each region, and the end of the
 * last one.
 */
function placeAll<const T extends Record<string, number>>(sizes: T): [{ [K in keyof T]: number }, number] {
  let end = 0
  const places: Record<string, number> = {}
  for (const [name, size] of Object.entries(sizes)) {
    places[name] = end
    end += Math.ceil(size / 64) * 64
  }
  // The cast is safe: the loop gives an offset to every key of `sizes`.
  return [places as { [K in keyof T]: number }, end]
}

let compiled: WebAssembly.Module | undefined

/** Instantiates the compiled kernel on this memory and passes the layout to it. */
export function startKernel(memory: WebAssembly.Memory, layout: Layout): Kernel {
  compiled ??= new WebAssembly.Module(readFileSync(new URL('./kernel/kernel.wasm', import.meta.url)))
  // The cast is safe: the committed binary is built from sources that export these functions; a test rebuilds and compares it.
  const kernel = new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel
  const { pagesAt, pageBytes, width, int8At, scaleAt, entryAt } = layout
  kernel.configure(pagesAt, pageBytes, width, int8At, scaleAt, entryAt)
  kernel.prepareRotation(layout.rotationAt)
  return kernel
}
