/** Numbers by row, in typed arrays that grow. A larger array with the same contents takes the place of one that is full. */

export type Numbers = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array

/** How much longer a full array becomes: such arrays are large, and room that is not used is wasted. */
const GROWTH = 1.25

/** At least so long, and longer by a quarter. */
export function grown<A extends Numbers>(array: A, length: number): A {
  return larger(array, Math.max(length, Math.ceil(array.length * GROWTH)))
}

/** The next power of two that is at least so long. */
export function doubled<A extends Numbers>(array: A, length: number): A {
  return larger(array, 2 ** Math.ceil(Math.log2(length)))
}

function larger<A extends Numbers>(array: A, length: number): A {
  // The constructor of an array makes arrays of its kind.
  const copy = new (array.constructor as new (length: number) => A)(length)
  copy.set(array)
  return copy
}

export interface ColumnKind<A extends Numbers> {
  readonly of: new (length: number) => A
  /** Numbers in a row; default 1. */
  readonly width?: number
  /** What a row holds before it is written; default 0. */
  readonly empty?: number
}

export type ColumnKinds = Readonly<Record<string, ColumnKind<Numbers>>>

export type ColumnArrays<K extends ColumnKinds> = { readonly [Name in keyof K]: InstanceType<K[Name]['of']> }

/**
 * Columns with the same number of rows. Read and write numbers in `arrays`: code of its own is compiled for each place that
 * does, which knows the type of the array there.
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

  /** `rows`: room for so many at first. */
  constructor(kinds: K, rows = 1024) {
    this.#kinds = kinds
    this.#rows = rows
    this.#arrays = this.#made(rows)
  }

  /** All are replaced when there is no room for a row: do not keep them across `reserve` and `clear`. */
  get arrays(): ColumnArrays<K> {
    return this.#arrays
  }

  /** Rows that there is room for. */
  get rows(): number {
    return this.#rows
  }

  get byteLength(): number {
    return Object.values<Numbers>(this.#arrays).reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Makes room for so many rows. */
  reserve(rows: number): void {
    if (rows <= this.#rows) return
    const before = this.#arrays
    this.#rows = Math.max(rows, Math.ceil(this.#rows * GROWTH))
    this.#arrays = this.#made(this.#rows)
    for (const name of Object.keys(before)) this.#arrays[name]?.set(before[name] as Numbers)
  }

  /** Forgets all rows; room for so many is left. */
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
