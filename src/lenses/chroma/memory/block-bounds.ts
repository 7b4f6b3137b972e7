/**
 * For each block of points the newest access and the largest strength of its nodes, by mode: enough to bound the score of
 * every node in it for any weights at any time. Raised at once when a member rises; a member that fades, leaves or
 * changes its mode leaves the limit too high, which is safe, until the next making anew.
 */
import type { PointIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES } from '../model.ts'
import type { MemoryCells } from './cells.ts'

const MODES = MODE_NAMES.length

export class BlockBounds {
  readonly #cells: MemoryCells
  readonly points: PointIndex
  #generation: number
  /** By block × modes + mode; minus infinity: no node of that mode. */
  #newest = new Float64Array(0)
  #strongest = new Float64Array(0)
  /** Members raised since the points may have moved: to be raised again where they are then. */
  readonly #unsettled = new Set<EntryKey>()

  constructor(cells: MemoryCells, points: PointIndex) {
    this.#cells = cells
    this.points = points
    this.#generation = points.generation
    this.remake()
  }

  /** A node's memory or mode changed, or it is new. */
  raise(entry: EntryKey): void {
    this.#unsettled.add(entry)
  }

  /** To be called before limits are read: `position` is how far in the feed the cells are. */
  settle(position: number): void {
    if (this.points.generation !== this.#generation) {
      this.#generation = this.points.generation
      this.remake()
    }
    for (const entry of this.#unsettled) if (this.#cells.has(entry)) this.#raise(entry)
    // Points that lag behind the cells will yet move or take in some of these.
    if (this.points.position >= position) this.#unsettled.clear()
  }

  /** Reads all nodes: 10 to 20 ns each. */
  remake(): void {
    this.#newest = new Float64Array(this.points.blocks * MODES).fill(Number.NEGATIVE_INFINITY)
    this.#strongest = new Float64Array(this.points.blocks * MODES)
    for (let entry = this.#cells.next(-1); entry !== -1; entry = this.#cells.next(entry)) this.#raise(entry)
  }

  newest(block: number, mode: number): number {
    return this.#newest[block * MODES + mode] ?? Number.NEGATIVE_INFINITY
  }

  strongest(block: number, mode: number): number {
    return this.#strongest[block * MODES + mode] ?? 0
  }

  #raise(entry: EntryKey): void {
    const block = this.points.blockOf(entry)
    if (block === -1) return
    const at = block * MODES + this.#cells.modeAt(entry)
    if (at >= this.#newest.length) this.#grow()
    const accessed = this.#cells.lastAccessed(entry)
    const strength = this.#cells.strength(entry)
    if (accessed > (this.#newest[at] as number)) this.#newest[at] = accessed
    if (strength > (this.#strongest[at] as number)) this.#strongest[at] = strength
  }

  #grow(): void {
    const length = this.points.blocks * MODES
    const newest = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
    newest.set(this.#newest)
    const strongest = new Float64Array(length)
    strongest.set(this.#strongest)
    this.#newest = newest
    this.#strongest = strongest
  }
}
