/** Columns of numbers in typed arrays that grow: a full array is replaced by a larger one with the same contents. */

export type Numbers = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array

/** Factor by which a full array grows. It is below 2, because these arrays are large and doubling them would waste memory. */
const GROWTH = 1.25

/** A copy of the typed array with room for at least `length` elements, and for at least a quarter more elements than the old array had. */
export function grown<A extends Numbers>(array: A, length: number): A {
  return larger(array, Math.max(length, Math.ceil(array.length * GROWTH)))
}

/** The smallest power of two that is at least `length`. */
export function doubled<A extends Numbers>(array: A, length: number): A {
  return larger(array, 2 ** Math.ceil(Math.log2(length)))
}

function larger<A extends Numbers>(array: A, length: number): A {
  // Typing helper for creating a typed array of the same type as another: TypeScript does not know that the `constructor` property of a
  // typed array creates arrays of that type.
  const copy = new (array.constructor as new (length: number) => A)(length)
  copy.set(array)
  return copy
}

export interface ColumnKind<A extends Numbers> {
  readonly of: new (length: number) => A
  /** Number of values in each row of the column; default 1. */
  readonly width?: number
  /** Value of a row that has not been written yet; default 0. */
  readonly empty?: number
}

export type ColumnKinds = Readonly<Record<string, ColumnKind<Numbers>>>

export type ColumnArrays<K extends ColumnKinds> = { readonly [Name in keyof K]: InstanceType<K[Name]['of']> }

/**
 * Typed-array columns with the same number of rows. Read and write the numbers through `arrays` directly: the JavaScript engine then
 * compiles each access for the type of that array.
 *
 * @example
 * const nodes = new Columns({ created: { of: Float64Array }, color: { of: Float64Array, width: 3 } })
 * nodes.reserve(key + 1)
 * nodes.arrays.color.set([l, a, b], key * 3)
 */
export class Columns<K extends ColumnKinds> {
  readonly #kinds: K
  #arrays: ColumnArrays<K>
  #rows: number

  /** `rows`: number of rows for which memory is allocated when the columns are created. */
  constructor(kinds: K, rows = 1024) {
    this.#kinds = kinds
    this.#rows = rows
    this.#arrays = this.#made(rows)
  }

  /** The arrays, one per column. `reserve` and `clear` may replace them, so do not keep a reference across these calls. */
  get arrays(): ColumnArrays<K> {
    return this.#arrays
  }

  /** Number of rows for which memory is allocated. */
  get rows(): number {
    return this.#rows
  }

  get byteLength(): number {
    return Object.values<Numbers>(this.#arrays).reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Allocates memory for at least `rows` rows; existing rows keep their values. */
  reserve(rows: number): void {
    if (rows <= this.#rows) return
    const before = this.#arrays
    this.#rows = Math.max(rows, Math.ceil(this.#rows * GROWTH))
    this.#arrays = this.#made(this.#rows)
    for (const name of Object.keys(before)) this.#arrays[name]?.set(before[name] as Numbers)
  }

  /** Resets all rows to their initial values; afterwards `rows` rows are allocated. */
  clear(rows: number = this.#rows): void {
    this.#rows = rows
    this.#arrays = this.#made(rows)
  }

  #made(rows: number): ColumnArrays<K> {
    const made = Object.entries(this.#kinds).map(([name, { of, width = 1, empty = 0 }]) => {
      const array = new of(rows * width)
      return [name, empty === 0 ? array : array.fill(empty)]
    })
    return Object.fromEntries(made) as ColumnArrays<K>
  }
}
