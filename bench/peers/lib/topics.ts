/**
 * Parts of equal size that lie together, as the notes of one person or project do: all rows are cut across their longest
 * direction, each half again, and so on, into 2, 20 and 200 parts. A filter by such a part has to do with the question,
 * which is where indexes that look at the neighbours first and at the filter afterwards have their worst case.
 */
import { dot } from '../../../src/math/vector.ts'
import { seededNormal } from '../../../test/support/seeded.ts'

/** Cuts on the way to 2 parts, from there to 20, and from there to 200. */
const CUTS = { half: [2], twentieth: [2, 5], twohundredth: [2, 5] } as const
const POWER_STEPS = 8
/** Rows that a direction is taken from. */
const SAMPLE = 2000

export interface Topics {
  /** By row. */
  readonly half: Uint8Array
  readonly twentieth: Uint8Array
  readonly twohundredth: Uint8Array
}

export function topicsOf(vectors: Float32Array, dimensions: number): Topics {
  const count = vectors.length / dimensions
  const topics = { half: new Uint8Array(count), twentieth: new Uint8Array(count), twohundredth: new Uint8Array(count) }
  let parts: Int32Array[] = [Int32Array.from({ length: count }, (_, row) => row)]
  for (const [name, cuts] of Object.entries(CUTS)) {
    for (const pieces of cuts) parts = parts.flatMap(rows => cut(rows, pieces, vectors, dimensions))
    for (const [part, rows] of parts.entries()) for (const row of rows) topics[name as keyof Topics][row] = part
  }
  return topics
}

/** The part whose mean is most (or, `far`, least) like the vector. */
export function partFor(vector: Float32Array, means: readonly Float32Array[], far: boolean): number {
  const scores = means.map(mean => dot(vector, mean, 0) * (far ? -1 : 1))
  return scores.indexOf(Math.max(...scores))
}

export function meansOf(part: Uint8Array, vectors: Float32Array, dimensions: number): readonly Float32Array[] {
  const means = Array.from({ length: Math.max(...new Set(part)) + 1 }, () => new Float32Array(dimensions))
  for (const [row, at] of part.entries()) {
    const mean = means[at] as Float32Array
    for (let i = 0; i < dimensions; i++) mean[i] = (mean[i] as number) + (vectors[row * dimensions + i] as number)
  }
  for (const mean of means) {
    const length = Math.hypot(...mean)
    for (let i = 0; i < dimensions; i++) mean[i] = (mean[i] as number) / length
  }
  return means
}

/** In pieces of equal size, by place along the direction in which the rows differ most. */
function cut(rows: Int32Array, pieces: number, vectors: Float32Array, dimensions: number): Int32Array[] {
  const direction = longest(rows, vectors, dimensions)
  const places = new Map([...rows].map(row => [row, dot(direction, vectors, row * dimensions)]))
  const sorted = rows.slice().sort((a, b) => (places.get(a) as number) - (places.get(b) as number) || a - b)
  const ends = Array.from({ length: pieces + 1 }, (_, i) => Math.round((i * rows.length) / pieces))
  return ends.slice(1).map((end, i) => sorted.slice(ends[i], end))
}

/** First principal direction, by power iteration on a sample. */
function longest(rows: Int32Array, vectors: Float32Array, dimensions: number): Float32Array {
  const step = Math.max(1, Math.floor(rows.length / SAMPLE))
  const sample = rows.filter((_, i) => i % step === 0)
  const mean = new Float32Array(dimensions)
  for (const row of sample) {
    for (let i = 0; i < dimensions; i++) {
      mean[i] = (mean[i] as number) + (vectors[row * dimensions + i] as number) / sample.length
    }
  }
  const normal = seededNormal(1)
  let direction = Float32Array.from({ length: dimensions }, normal)
  for (let step = 0; step < POWER_STEPS; step++) {
    const next = new Float32Array(dimensions)
    const offset = dot(direction, mean, 0)
    for (const row of sample) {
      const along = dot(direction, vectors, row * dimensions) - offset
      for (let i = 0; i < dimensions; i++) {
        next[i] = (next[i] as number) + along * ((vectors[row * dimensions + i] as number) - (mean[i] as number))
      }
    }
    const length = Math.hypot(...next)
    direction = next.map(value => value / length)
  }
  return direction
}
