/** A number a row, worked out when it is first asked for: rows that nobody asks for cost nothing. */
export class ByRow {
  #values: Float64Array
  /** 1: worked out. */
  #known: Uint8Array

  constructor(rows: number) {
    this.#values = new Float64Array(rows)
    this.#known = new Uint8Array(rows)
  }

  at(row: number, make: (row: number) => number): number {
    if (this.#known[row] === 1) return this.#values[row] as number
    const made = make(row)
    this.#values[row] = made
    this.#known[row] = 1
    return made
  }

  /** By row, right for these: for loops over very many. */
  all(rows: Int32Array, make: (row: number) => number): Float64Array {
    const [known, values] = [this.#known, this.#values]
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      if (known[row] === 1) continue
      values[row] = make(row)
      known[row] = 1
    }
    return values
  }

  forget(row: number): void {
    this.#known[row] = 0
  }

  /** Room for so many. */
  grow(rows: number): void {
    if (rows <= this.#values.length) return
    const [values, known] = [new Float64Array(rows), new Uint8Array(rows)]
    values.set(this.#values)
    known.set(this.#known)
    this.#values = values
    this.#known = known
  }
}
