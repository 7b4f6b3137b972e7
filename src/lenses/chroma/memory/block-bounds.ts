/**
 * For each block of points the newest access and the largest strength of its nodes, by mode: enough to bound the score of
 * every node in it for any weights at any time. Raised at once when a member rises; a member that fades, leaves or
 * changes its mode leaves the limit too high, which is safe, until the next making anew.
 */
import type { PointIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES } from '../mode-names.ts'
import type { MemoryCells } from './cells.ts'

const MODES = MODE_NAMES.length
/** In place of a block. */
export const ALL = -1

export class BlockBounds {
  readonly points: PointIndex
  readonly #cells: MemoryCells
  #generation = -1
  /** How many of the points' arrivals are in. */
  #arrived = 0
  /** By block × modes + mode; minus infinity: no node of that mode. */
  #newest = new Float64Array(0)
  #strongest = new Float64Array(0)
  /** Over all blocks, by mode. */
  readonly #newestOfAll = new Float64Array(MODES)
  readonly #strongestOfAll = new Float64Array(MODES)

  constructor(cells: MemoryCells, points: PointIndex) {
    this.points = points
    this.#cells = cells
  }

  /** Takes in what came into blocks; to be called before limits are read. */
  settle(): void {
    const { generation, arrivals } = this.points
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#arrived = arrivals.length
      this.#remake()
    }
    while (this.#arrived < arrivals.length) this.raise(arrivals[this.#arrived++] as EntryKey)
  }

  /** A node's memory or mode changed, or it is new. One that has no point yet will arrive. */
  raise(entry: EntryKey): void {
    const block = this.points.blockOf(entry)
    if (block === -1 || !this.#cells.has(entry)) return
    const mode = this.#cells.modeAt(entry)
    const at = block * MODES + mode
    if (at >= this.#newest.length) this.#grow()
    const accessed = this.#cells.lastAccessed(entry)
    const strength = this.#cells.strength(entry)
    if (accessed > (this.#newest[at] as number)) this.#newest[at] = accessed
    if (strength > (this.#strongest[at] as number)) this.#strongest[at] = strength
    if (accessed > (this.#newestOfAll[mode] as number)) this.#newestOfAll[mode] = accessed
    if (strength > (this.#strongestOfAll[mode] as number)) this.#strongestOfAll[mode] = strength
  }

  /** Of a block, or of all for minus one. Minus infinity: it has no node of this mode. */
  newest(block: number, mode: number): number {
    if (block === ALL) return this.#newestOfAll[mode] as number
    return this.#newest[block * MODES + mode] ?? Number.NEGATIVE_INFINITY
  }

  strongest(block: number, mode: number): number {
    if (block === ALL) return this.#strongestOfAll[mode] as number
    return this.#strongest[block * MODES + mode] ?? 0
  }

  /** Reads all nodes: some 20 ns each. */
  #remake(): void {
    this.#newest = new Float64Array(this.points.blocks * MODES).fill(Number.NEGATIVE_INFINITY)
    this.#strongest = new Float64Array(this.points.blocks * MODES)
    this.#newestOfAll.fill(Number.NEGATIVE_INFINITY)
    this.#strongestOfAll.fill(0)
    for (let entry = this.#cells.next(-1); entry !== -1; entry = this.#cells.next(entry)) this.raise(entry)
  }

  #grow(): void {
    const length = Math.ceil(this.points.blocks * 1.2) * MODES
    const newest = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
    newest.set(this.#newest)
    const strongest = new Float64Array(length)
    strongest.set(this.#strongest)
    this.#newest = newest
    this.#strongest = strongest
  }
}
