/** Tight boxes around points: six numbers each, lowest and highest by axis. An empty one is infinite the wrong way round. */
import { grown } from '../../base/grown.ts'

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

  /** Makes the box reach around a box of another set too. */
  includeBox(box: number, others: Boxes, other: number): void {
    const bounds = others.#bounds
    for (let axis = 0; axis < 6; axis += 2) {
      this.#stretch(6 * box + axis, bounds[6 * other + axis] as number, bounds[6 * other + axis + 1] as number)
    }
  }

  /** Whether the box might be smaller without this point of its. */
  isOnFace(box: number, l: number, a: number, b: number): boolean {
    return this.#ends(6 * box, l) || this.#ends(6 * box + 2, a) || this.#ends(6 * box + 4, b)
  }

  /**
   * To the nearest spot of the box; 0 inside. Computed as distances to points are, step by step, so that rounding never
   * makes it exceed that of a point within.
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
