/**
 * Vectors that behave like text embeddings: a Gaussian mixture of 1,000 centres with Zipf-like sizes, a power-law
 * spectrum (component i scaled by (i + 1)^-0.5) under a random rotation, unit length. At 384 dimensions its
 * participation dimension is about 33; random pairs have cosine 0.00 ± 0.17.
 *
 * The rotation is three rounds of random signs, a random permutation, a Walsh-Hadamard transform of each block of
 * 2^m components, and a Householder reflection across blocks: exactly orthogonal, d log d instead of d² operations.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { seededNormal, seededUniform } from '../../test/support/seeded.ts'

export interface MixtureOptions {
  readonly rows: number
  readonly queries: number
  readonly dimensions: number
  readonly seed: number
}

/** Vectors one after the other. Queries are drawn like rows. */
export interface Mixture {
  readonly rows: Float32Array
  readonly queries: Float32Array
}

const CENTRES = 1000
const NOISE = 0.8

/** From bench/out if it was made before. */
export function mixture(options: MixtureOptions): Mixture {
  const { rows, queries, dimensions, seed } = options
  const all = cached(`mixture-${rows}-${queries}-${dimensions}-${seed}.f32`, () => {
    const made = makeMixture(options)
    const both = new Float32Array(made.rows.length + made.queries.length)
    both.set(made.rows)
    both.set(made.queries, made.rows.length)
    return new Uint8Array(both.buffer)
  })
  const floats = new Float32Array(all.buffer, all.byteOffset, all.byteLength / 4)
  return { rows: floats.subarray(0, rows * dimensions), queries: floats.subarray(rows * dimensions) }
}

export function makeMixture({ rows, queries, dimensions, seed }: MixtureOptions): Mixture {
  const normal = seededNormal(seed)
  const uniform = seededUniform(seed + 1)
  const spectrum = unit(Float64Array.from({ length: dimensions }, (_, i) => (i + 1) ** -0.5))
  const centres = Array.from({ length: CENTRES }, () => unit(spectrum.map(scale => normal() * scale)))
  const pick = zipfLike(CENTRES, uniform)
  const rotate = randomRotation(dimensions, uniform)
  const draw = (count: number) => {
    const vectors = new Float32Array(count * dimensions)
    for (let i = 0; i < count; i++) {
      const centre = centres[pick()] as Float64Array
      const vector = spectrum.map((scale, j) => (centre[j] as number) + NOISE * normal() * scale)
      vectors.set(unit(rotate(vector)), i * dimensions)
    }
    return vectors
  }
  return { rows: draw(rows), queries: draw(queries) }
}

/** Bytes kept in bench/out under that name. */
export function cached(name: string, make: () => Uint8Array): Uint8Array {
  const folder = fileURLToPath(new URL('../out', import.meta.url))
  const path = `${folder}/${name}`
  try {
    return readFileSync(path)
  } catch {
    const bytes = make()
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${path}.tmp`, bytes)
    renameSync(`${path}.tmp`, path)
    return bytes
  }
}

/** Draws 0 to n - 1 with weights 1 / (i + 20). */
function zipfLike(n: number, uniform: () => number): () => number {
  const ends = new Float64Array(n)
  let sum = 0
  for (let i = 0; i < n; i++) ends[i] = sum += 1 / (i + 20)
  return () => {
    const at = uniform() * sum
    let [low, high] = [0, n - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) > at) high = middle
      else low = middle + 1
    }
    return low
  }
}

function randomRotation(dimensions: number, uniform: () => number): (vector: Float64Array) => Float64Array {
  const block = dimensions & -dimensions
  const rounds = Array.from({ length: 3 }, () => ({
    signs: Float64Array.from({ length: dimensions }, () => (uniform() < 0.5 ? -1 : 1)),
    places: shuffled(dimensions, uniform),
  }))
  return vector => {
    let from = vector
    for (const { signs, places } of rounds) {
      const to = new Float64Array(dimensions)
      for (let i = 0; i < dimensions; i++) to[places[i] as number] = (from[i] as number) * (signs[i] as number)
      for (let start = 0; start < dimensions; start += block) hadamard(to, start, block)
      reflectBlocks(to, block)
      from = to
    }
    return from
  }
}

/** Walsh-Hadamard transform of [start, start + length), scaled to be orthogonal. */
function hadamard(values: Float64Array, start: number, length: number): void {
  const end = start + length
  for (let half = 1; half < length; half *= 2) {
    for (let base = start; base < end; base += 2 * half) {
      for (let i = base; i < base + half; i++) {
        const a = values[i] as number
        const b = values[i + half] as number
        values[i] = a + b
        values[i + half] = a - b
      }
    }
  }
  const scale = 1 / Math.sqrt(length)
  for (let i = start; i < end; i++) values[i] = (values[i] as number) * scale
}

/** The i-th components of all blocks, reflected at the plane across (1, 1, … 1). */
function reflectBlocks(values: Float64Array, block: number): void {
  const blocks = values.length / block
  if (blocks === 1) return
  for (let i = 0; i < block; i++) {
    let sum = 0
    for (let b = 0; b < blocks; b++) sum += values[b * block + i] as number
    for (let b = 0; b < blocks; b++) values[b * block + i] = (values[b * block + i] as number) - (2 / blocks) * sum
  }
}

function shuffled(n: number, uniform: () => number): Int32Array {
  const places = Int32Array.from({ length: n }, (_, i) => i)
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1))
    const held = places[i] as number
    places[i] = places[j] as number
    places[j] = held
  }
  return places
}

function unit(vector: Float64Array): Float64Array {
  let square = 0
  for (const component of vector) square += component * component
  const scale = 1 / Math.sqrt(square)
  return vector.map(component => component * scale)
}
