import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../src/base/bitset.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { audience } from '../../../src/model/partition.ts'
import type { ChunkVector, StoreReader } from '../../../src/store/store.ts'
import { seededUniform } from '../../support/seeded.ts'
import { MODEL, randomUnits, unitsNear, VectorStore } from '../../support/vector-stores.ts'
import { MANY, openPair, referenceOf } from './vector-pairs.ts'

describe('widths', () => {
  it.each([1, 2, 63, 64, 65, 100, 384, 768, 1536])('is exact with %i dimensions', dimensions => {
    const world = new VectorStore()
    for (const vector of randomUnits(300, dimensions, dimensions)) world.add([vector])
    const { index, reference } = openPair(world, dimensions)
    for (const vector of randomUnits(5, dimensions, 99)) {
      const request = { vector, k: 20, partitions: world.partitions() }
      expect(index.search(request)).toEqual(reference.search(request))
    }
  })

  it.each([0, -1, 1.5, 20_000])('refuses %d dimensions', dimensions => {
    expect(() => openVectorIndex({ model: MODEL, dimensions, source: () => [] })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })
})

describe('exactness where int8 cannot tell rows apart', () => {
  it('settles rows closer to each other than the error of their int8 products', () => {
    const world = new VectorStore()
    const [centre] = randomUnits(1, 384, 1) as [Float32Array]
    for (const vector of unitsNear(centre, 0.02, 800, 2)) world.add([vector])
    const { index, reference } = openPair(world, 384)
    for (const vector of unitsNear(centre, 0.02, 5, 3)) {
      const request = { vector, k: 10, partitions: world.partitions() }
      expect(index.search(request)).toEqual(reference.search(request))
    }
  })

  it('ties what is cut to 1: vectors a little longer than 1 in the direction asked for', () => {
    const world = new VectorStore()
    // Equal components are exact in int8, so nothing but the cut makes these rows alike.
    const direction = new Float32Array(64).fill(1 / 8)
    for (const length of [1.0002, 1.0001, 1.0004, 1.0006, 1.0008]) world.add([direction.map(x => x * length)])
    const { index, reference } = openPair(world, 64)
    const request = { vector: direction.map(x => x * 1.0008), k: 2, partitions: world.partitions() }
    expect(reference.search(request).map(hit => hit.entry)).toEqual([1, 2])
    expect(index.search(request)).toEqual(reference.search(request))
  })
})

describe('vectors that were read before', () => {
  it('are read again when they were written again', () => {
    const world = new VectorStore()
    const [before, after, asked] = randomUnits(3, 32, 30) as [Float32Array, Float32Array, Float32Array]
    const entry = world.add([before])
    const { index } = openPair(world, 32)
    const request = { vector: asked, k: 1, partitions: world.partitions() }
    index.search(request)
    world.store.write(2, writer => {
      const chunk = writer.chunksOf(entry)[0]?.key as number
      writer.putVectors(MODEL, [{ chunk, vector: after }])
    })
    index.refresh(world.store)
    expect(index.search(request)).toEqual(referenceOf(world, 32).search(request))
  })
})

describe('filters', () => {
  const world = new VectorStore()
  for (const vector of randomUnits(MANY / 2, 32, 7)) world.add([vector, vector.map(x => -x)])
  world.add(randomUnits(50, 32, 8), audience('private', 'bob'))
  const { index, reference } = openPair(world, 32)

  it.each([0.001, 0.03, 0.1, 0.4, 0.6, 0.95, 1])('keeps what a share of %d of the entries may show', share => {
    const uniform = seededUniform(share * 1000)
    const allow = Bitset.of(Array.from({ length: MANY / 2 + 1 }, (_, i) => i + 1).filter(() => uniform() < share))
    for (const vector of randomUnits(4, 32, 9)) {
      for (const approximate of [false, true]) {
        const request = { vector, k: 10, partitions: world.partitions(), allow, approximate }
        expect(index.count(request)).toBe(reference.count(request))
        const hits = index.search(request)
        const expected = reference.search(request)
        if (!approximate) expect(hits).toEqual(expected)
        expect(hits).toHaveLength(expected.length)
        expect(hits.every(hit => allow.has(hit.entry))).toBe(true)
        const chunks = new Set(expected.map(hit => hit.chunk))
        expect(hits.filter(hit => chunks.has(hit.chunk)).length).toBeGreaterThanOrEqual(0.8 * expected.length)
      }
    }
  })
})

describe('vectors that no store should hold', () => {
  const readerOf = (vector: Float32Array) => {
    const row: ChunkVector = { chunk: 1, entry: 1, partition: 1, vector }
    const scanVectors = (_: string, after: number) => (after < 1 ? [row] : [])
    // Real stores refuse such vectors themselves, so a damaged one is played by the two calls that a rebuild makes.
    return { lastSeq: () => 1, firstSeq: () => 1, scanVectors } as unknown as StoreReader
  }

  it.each([
    ['too short', new Float32Array([1, 0, 0])],
    ['no number', new Float32Array([1, 0, 0, Number.NaN])],
    ['infinite', new Float32Array([1, 0, 0, Number.POSITIVE_INFINITY])],
    ['not of unit length', new Float32Array([1, 1, 0, 0])],
    ['zero', new Float32Array(4)],
  ])('refuses one that is %s, and is empty afterwards', (_, vector) => {
    const index = openVectorIndex({ model: MODEL, dimensions: 4, source: () => [] })
    expect(() => index.rebuild(readerOf(vector))).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    expect(index.position).toBe(0)
    expect(index.count({ partitions: [1] })).toBe(0)
  })
})

it('QE-019: a partition that grows beyond its limit at once is divided in steps, whatever part of it came', () => {
  const world = new VectorStore()
  const source = (chunks: readonly number[]) => world.store.vectors(MODEL, chunks)
  const cells = { dividedFrom: 6_000, pivotEvery: 64, prunedFrom: 0 }
  const index = openVectorIndex({ model: MODEL, dimensions: 8, source, cells })
  const vectors = randomUnits(6_300, 8, 1)
  const stepsOf = (from: number, to: number) => {
    world.addInThrees(vectors.slice(from, to))
    const steps = index.refreshInSteps?.(world.store)
    let count = 0
    while (steps?.next(false).done === false) count++
    return count
  }
  stepsOf(0, 2_700)
  expect(stepsOf(2_700, 2_850)).toBe(0)
  // The partition had less than half of the limit, and the entries that come are few by number.
  world.add(vectors.slice(2_850, 6_000))
  // Reading takes a step for every thousand rows, looking for pivots and moving rows one for every 4,096.
  expect(stepsOf(6_000, 6_150)).toBeGreaterThanOrEqual(6 + 2)
  expect(index.count({ partitions: world.partitions() })).toBe(6_150)
  // Now it is divided, and what comes is put into its cells.
  expect(stepsOf(6_150, 6_300)).toBe(0)
})
