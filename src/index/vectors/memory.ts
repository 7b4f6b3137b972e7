/**
 * The WebAssembly memory of a vector index: a fixed scratch area, then pages with 4,096 rows (encoded vectors) each. Some consecutive
 * pages, the "arena", hold no rows but the working lists of the search in progress. Pages are added, but never moved.
 */
import { QuerentError } from '../../model/errors.ts'
import { type Kernel, type Layout, layoutOf, PAGE_ROWS, PAGE_SHIFT, startKernel } from '../kernel.ts'

const WASM_PAGE = 65536
/** Maximum size of the memory in WebAssembly pages, 4 GiB in all: room for nine million rows at 384 dimensions. */
const MAX_WASM_PAGES = 65536

export class VectorMemory {
  readonly layout: Layout
  readonly kernel: Kernel
  readonly #memory: WebAssembly.Memory
  #pages = 0
  #arena = { page: 0, pages: 0 }
  #bytes!: Uint8Array
  #words!: Uint32Array
  #floats!: Float32Array
  #doubles!: Float64Array

  constructor(dimensions: number) {
    this.layout = layoutOf(dimensions)
    this.#memory = new WebAssembly.Memory({ initial: this.layout.pagesAt / WASM_PAGE, maximum: MAX_WASM_PAGES })
    this.kernel = startKernel(this.#memory, this.layout)
    this.#look()
  }

  /**
   * Typed-array views of the whole WebAssembly memory; `words` and `floats` are indexed by byte address / 4, `doubles` by byte address / 8.
   * The views are replaced whenever the memory grows.
   */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get words(): Uint32Array {
    return this.#words
  }

  get floats(): Float32Array {
    return this.#floats
  }

  get doubles(): Float64Array {
    return this.#doubles
  }

  /**
   * Byte address of one value of the row (encoded vector) in this slot. A page stores its rows column by column: `column` is the byte
   * offset of the value's column in the page, `size` the number of bytes of each value in it.
   */
  address(slot: number, column: number, size: number): number {
    const page = this.layout.pagesAt + (slot >>> PAGE_SHIFT) * this.layout.pageBytes
    return page + column + (slot & (PAGE_ROWS - 1)) * size
  }

  /**
   * Index into `words`, the memory seen as u32 values, of one value of the row (encoded vector) in this slot. `column`: byte offset of the
   * value's column in a page.
   */
  word(slot: number, column: number): number {
    return this.address(slot, column, 4) / 4
  }

  /** Copies a row (encoded vector with its keys) to another slot, a place for one row in memory. */
  copyRow(from: number, to: number): void {
    this.#eachColumn((column, size) => {
      const start = this.address(from, column, size)
      this.#bytes.copyWithin(this.address(to, column, size), start, start + size)
    })
  }

  /** Overwrites a row with zeros, so that data of deleted rows is neither in memory nor in a snapshot. */
  wipeRow(slot: number): void {
    this.#eachColumn((column, size) => {
      const start = this.address(slot, column, size)
      this.#bytes.fill(0, start, start + size)
    })
  }

  /** Adds `count` pages (memory for 4,096 rows each) at the end of the memory. Returns the number of the first added page. */
  addPages(count: number): number {
    const first = this.#pages
    const end = this.layout.pagesAt + (first + count) * this.layout.pageBytes
    const wanted = Math.ceil((end - this.#memory.buffer.byteLength) / WASM_PAGE)
    try {
      if (wanted > 0) this.#memory.grow(wanted)
    } catch (cause) {
      const limit = MAX_WASM_PAGES * WASM_PAGE
      throw new QuerentError('too_large', `vectors need ${end} bytes of memory; there is no room`, { limit }, cause)
    }
    this.#pages += count
    this.#look()
    return first
  }

  /**
   * Address of at least `bytes` bytes of working memory for a search (the arena), valid until the next call. If the arena is too small, a
   * larger one is added, and `release` is called with the old one's pages (first, count). A new arena is all zero; an existing one keeps
   * its contents.
   */
  arena(bytes: number, release: (page: number, count: number) => void): number {
    const pages = Math.ceil(bytes / this.layout.pageBytes)
    if (pages > this.#arena.pages) {
      const old = this.#arena
      this.#arena = { page: this.addPages(pages), pages }
      if (old.pages > 0) release(old.page, old.pages)
    }
    return this.layout.pagesAt + this.#arena.page * this.layout.pageBytes
  }

  /** Calls `act` for each column of a page, with the offset of the column in the page and the number of bytes per row. */
  #eachColumn(act: (column: number, size: number) => void): void {
    const { layout } = this
    act(0, layout.codeBytes)
    act(layout.int8At, layout.width)
    for (const column of [layout.scaleAt, layout.entryAt, layout.chunkAt, layout.nextAt]) act(column, 4)
  }

  #look(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer)
    this.#words = new Uint32Array(this.#memory.buffer)
    this.#floats = new Float32Array(this.#memory.buffer)
    this.#doubles = new Float64Array(this.#memory.buffer)
  }
}
