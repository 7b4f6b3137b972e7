/** Which rows changed of late, for those who keep something by row and need not make all of it anew. */

/** Rows that are remembered; of more it is cheaper to make all anew. */
const MOST = 4096

export class TouchedRows {
  #rows: number[] = []
  /** Of the first that is remembered, counted from the beginning. */
  #from = 0

  /** How many there have been: what to ask with the next time. */
  get count(): number {
    return this.#from + this.#rows.length
  }

  add(row: number): void {
    if (this.#rows.length === MOST) {
      this.#from += MOST / 2
      this.#rows = this.#rows.slice(MOST / 2)
    }
    this.#rows.push(row)
  }

  /** All of them may have. */
  clear(): void {
    this.#from = this.count + 1
    this.#rows = []
  }

  /** Those since then, some of them twice; null: too many to remember. */
  since(count: number): readonly number[] | null {
    return count < this.#from ? null : this.#rows.slice(count - this.#from)
  }
}
