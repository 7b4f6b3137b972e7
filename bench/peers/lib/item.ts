/** One thing that is searched for: a text of about 65 words, its vector, and fields that filters ask about. */
export interface Item {
  readonly row: number
  readonly text: string
  readonly vector: Float32Array
  readonly fields: Fields
}

export interface Fields {
  /** 0 to 999 in equal shares; has nothing to do with the vector. */
  readonly bucket: number
  /** The topical part among 2, 20 and 200 that the vector lies in. */
  readonly half: number
  readonly twentieth: number
  readonly twohundredth: number
}

/** Rows one after the other; made again in each process that builds. */
export interface Items {
  readonly count: number
  of(row: number): Item
  /** All vectors, one after the other. */
  readonly vectors: Float32Array
}
