import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../src/base/bitset.ts'
import { openReferenceVectors } from '../../../src/index/reference-vectors.ts'
import { openVectorIndex, type VectorSource } from '../../../src/index/vectors.ts'
import { toUnit } from '../../../src/math/vector.ts'
import { audience } from '../../../src/model/partition.ts'
import type { ChunkVector, StoreReader } from '../../../src/store/store.ts'
import { seededUniform } from '../../../src/testing/seeded.ts'
import { MODEL, randomUnits, unitsNear, VectorStore } from '../../support/vector-stores.ts'

function open(world: VectorStore, dimensions: number, mean?: Float32Array) {
  const index = openVectorIndex({
    model: MODEL,
    dimensions,
    mean,
    source: chunks => world.store.vectors(MODEL, chunks),
  })
  index.refresh(world.store)
  const reference = openReferenceVectors(MODEL, dimensions)
  reference.rebuild(world.store)
  return { index, reference }
}

/** So many rows that sign codes choose: fewer are all read by int8. */
const MANY = 9000

describe('widths', () => {
  it.each([1, 2, 63, 64, 65, 100, 384, 768, 1536])('is exact with %i dimensions', dimensions => {
    const world = new VectorStore()
    for (const vector of randomUnits(300, dimensions, dimensions)) world.add([vector])
    const { index, reference } = open(world, dimensions)
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

  it('refuses a mean of another width', () => {
    const mean = new Float32Array(3)
    expect(() => openVectorIndex({ model: MODEL, dimensions: 4, mean, source: () => [] })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })
})

describe('exactness where int8 cannot tell rows apart', () => {
  it('settles rows closer to each other than the error of their int8 products', () => {
    const world = new VectorStore()
    const [centre] = randomUnits(1, 384, 1) as [Float32Array]
    for (const vector of unitsNear(centre, 0.02, 800, 2)) world.add([vector])
    const { index, reference } = open(world, 384)
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
    const { index, reference } = open(world, 64)
    const request = { vector: direction.map(x => x * 1.0008), k: 2, partitions: world.partitions() }
    expect(reference.search(request).map(hit => hit.entry)).toEqual([1, 2])
    expect(index.search(request)).toEqual(reference.search(request))
  })

  it('ranks by similarity and prior together, also where the prior outweighs it', () => {
    const world = new VectorStore()
    for (const vector of randomUnits(2000, 64, 4)) world.add([vector])
    const { index, reference } = open(world, 64)
    const uniform = seededUniform(5)
    const values = Float32Array.from({ length: 2001 }, () => uniform() * 0.65)
    for (const [i, vector] of randomUnits(10, 64, 6).entries()) {
      const prior = { weight: [0.35, 0, -1, 4][i % 4] as number, values }
      const request = { vector, k: 15, partitions: world.partitions(), prior, approximate: true }
      expect(index.search(request)).toEqual(reference.search(request))
    }
  })
})

describe('a list that is asked about again', () => {
  it('is of the rows as they are then', () => {
    const world = new VectorStore()
    for (const vector of randomUnits(200, 32, 20)) world.add([vector])
    const { index } = open(world, 32)
    const list = { entries: Int32Array.from({ length: 260 }, (_, i) => i + 1), priors: new Float32Array(260) }
    const [vector] = randomUnits(1, 32, 21) as [Float32Array]
    const partitions = world.partitions()
    const ask = () => {
      index.refresh(world.store)
      const reference = openReferenceVectors(MODEL, 32)
      reference.rebuild(world.store)
      const request = { vector, k: 300, partitions, among: { list, weight: 1, from: 10, to: 260 } }
      expect(index.search(request)).toEqual(reference.search(request))
    }
    ask()
    for (const added of randomUnits(60, 32, 22)) world.add([added])
    ask()
    for (let entry = 3; entry < 250; entry += 7) world.store.write(2, writer => writer.delete(entry))
    ask()
  })
})

describe('vectors that were read before', () => {
  it('are read again when they were written again', () => {
    const world = new VectorStore()
    const [before, after, asked] = randomUnits(3, 32, 30) as [Float32Array, Float32Array, Float32Array]
    const entry = world.add([before])
    const { index } = open(world, 32)
    const request = { vector: asked, k: 1, partitions: world.partitions() }
    index.search(request)
    world.store.write(2, writer => {
      const chunk = writer.chunksOf(entry)[0]?.key as number
      writer.putVectors(MODEL, [{ chunk, vector: after }])
    })
    index.refresh(world.store)
    const reference = openReferenceVectors(MODEL, 32)
    reference.rebuild(world.store)
    expect(index.search(request)).toEqual(reference.search(request))
  })
})

describe('filters', () => {
  const world = new VectorStore()
  for (const vector of randomUnits(MANY / 2, 32, 7)) world.add([vector, vector.map(x => -x)])
  world.add(randomUnits(50, 32, 8), audience('private', 'bob'))
  const { index, reference } = open(world, 32)

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

describe('approximate search', () => {
  it('finds at least 99 of 100 true neighbours', () => {
    const world = new VectorStore()
    const centres = randomUnits(90, 128, 10)
    for (const [i, centre] of centres.entries()) world.addInThrees(unitsNear(centre, 1, MANY / 90, 100 + i))
    const { index, reference } = open(world, 128)
    let found = 0
    const asked = centres.slice(0, 40).flatMap((centre, i) => unitsNear(centre, 1, 1, 1000 + i))
    for (const vector of asked) {
      const request = { vector, k: 10, partitions: world.partitions(), approximate: true }
      const true10 = new Map(reference.search(request).map(hit => [hit.chunk, hit.score]))
      const hits = index.search(request).filter(hit => true10.has(hit.chunk))
      for (const hit of hits) expect(hit.score).toBe(true10.get(hit.chunk))
      found += hits.length
    }
    expect(found / (asked.length * 10)).toBeGreaterThanOrEqual(0.99)
  })

  it('does so too when a few components carry most of the meaning', () => {
    const world = new VectorStore()
    const uneven = (vector: Float32Array) => toUnit(vector.map((x, i) => x / (i + 1))) as Float32Array
    const centres = randomUnits(90, 128, 30)
    for (const [i, centre] of centres.entries()) {
      world.addInThrees(unitsNear(centre, 1, MANY / 90, 300 + i).map(uneven))
    }
    const { index } = open(world, 128)
    let found = 0
    const asked = centres.slice(0, 40).flatMap((centre, i) => unitsNear(centre, 1, 1, 2000 + i).map(uneven))
    for (const vector of asked) {
      const request = { vector, k: 10, partitions: world.partitions() }
      const exact = new Set(index.search(request).map(hit => hit.chunk))
      found += index.search({ ...request, approximate: true }).filter(hit => exact.has(hit.chunk)).length
    }
    expect(found / (asked.length * 10)).toBeGreaterThanOrEqual(0.99)
  })

  it('goes on until it has k entries when one entry fills the neighbourhood', () => {
    const world = new VectorStore()
    const [centre] = randomUnits(1, 64, 11) as [Float32Array]
    world.add(unitsNear(centre, 0.1, 3000, 12))
    world.addInThrees(randomUnits(MANY - 3000, 64, 13))
    const { index } = open(world, 64)
    const hits = index.search({ vector: centre, k: 10, partitions: world.partitions(), approximate: true })
    expect(new Set(hits.map(hit => hit.entry)).size).toBe(10)
    expect(hits[0]?.entry).toBe(1)
  })

  it('does not notice rows that the viewer may not see, near as they are', () => {
    const world = new VectorStore()
    world.addInThrees(randomUnits(MANY, 64, 14))
    const { index } = open(world, 64)
    const asked = randomUnits(10, 64, 15)
    const ask = () =>
      JSON.stringify(
        asked.map(vector => [
          index.search({ vector, k: 10, partitions: world.partitions(), approximate: true }),
          index.search({ vector, k: 60, partitions: world.partitions(), approximate: true }),
        ]),
      )
    const before = ask()
    // All but one component lie half way between two steps of int8: no vector has a larger error.
    const worst = toUnit([127, ...new Array<number>(63).fill(63.5)]) as Float32Array
    const hidden = asked.map(vector =>
      world.add([...unitsNear(vector, 0.3, 200, 16), worst], audience('private', 'bob')),
    )
    index.refresh(world.store)
    expect(ask()).toBe(before)
    world.store.write(2, writer => hidden.map(entry => writer.delete(entry)))
    index.refresh(world.store)
    expect(ask()).toBe(before)
  })

  it('does not depend on the order in which rows came', () => {
    const vectors = randomUnits(MANY, 64, 17)
    const forth = new VectorStore()
    const back = new VectorStore()
    forth.addInThrees(vectors)
    back.addInThrees(vectors.toReversed())
    const [query] = randomUnits(1, 64, 18) as [Float32Array]
    const scores = (world: VectorStore) =>
      open(world, 64)
        .index.search({ vector: query, k: 50, partitions: world.partitions(), approximate: true })
        .map(hit => hit.score)
    expect(scores(forth)).toEqual(scores(back))
  })

  it('finds more with signs about the mean of the model, and is as exact when asked to be', () => {
    const world = new VectorStore()
    const [mean] = randomUnits(1, 96, 19) as [Float32Array]
    world.addInThrees(unitsNear(mean, 0.7, MANY, 20))
    const { index, reference } = open(world, 96, mean)
    const { index: plain } = open(world, 96)
    const found = { about: 0, plain: 0 }
    for (const vector of unitsNear(mean, 0.7, 20, 21)) {
      const request = { vector, k: 10, partitions: world.partitions() }
      const exact = reference.search(request)
      expect(index.search(request)).toEqual(exact)
      const chunks = new Set(exact.map(hit => hit.chunk))
      const hits = (of: typeof index) =>
        of.search({ ...request, approximate: true }).filter(hit => chunks.has(hit.chunk))
      found.about += hits(index).length
      found.plain += hits(plain).length
    }
    expect(found.about).toBeGreaterThan(found.plain * 1.02)
  })
})

describe('what a search costs', () => {
  it('reads few vectors from the store, time after time', () => {
    const world = new VectorStore()
    for (let i = 0; i < 600; i++) world.add(randomUnits(8, 384, 100 + i))
    let read = 0
    const source: VectorSource = chunks => {
      read += chunks.length
      return world.store.vectors(MODEL, chunks)
    }
    const index = openVectorIndex({ model: MODEL, dimensions: 384, source })
    index.refresh(world.store)
    for (const approximate of [false, true]) {
      for (const vector of randomUnits(10, 384, 26)) {
        read = 0
        expect(index.search({ vector, k: 10, partitions: world.partitions(), approximate })).toHaveLength(10)
        // Random rows of that many dimensions are the worst case: many are about as far as the tenth.
        expect(read).toBeLessThan(150)
      }
    }
  })

  it('reads one vector an entry to score entries whose chunks lie apart', () => {
    const world = new VectorStore()
    const entries = Array.from({ length: 20 }, (_, i) => world.add(randomUnits(10, 384, 200 + i)))
    let read = 0
    const source: VectorSource = chunks => {
      read += chunks.length
      return world.store.vectors(MODEL, chunks)
    }
    const index = openVectorIndex({ model: MODEL, dimensions: 384, source })
    index.refresh(world.store)
    const [vector] = randomUnits(1, 384, 27) as [Float32Array]
    expect(index.score(vector, entries, { partitions: world.partitions() })).toHaveLength(20)
    expect(read).toBeLessThan(40)
  })
})

describe('what an index holds', () => {
  it('takes at most 455 bytes a row of 384 dimensions', () => {
    const world = new VectorStore()
    for (const vector of randomUnits(4096, 384, 22)) world.add([vector])
    expect(open(world, 384).index.byteLength / 4096).toBeLessThan(455 + 250_000 / 4096)
  })

  it('forgets what was deleted: no component of it stays in a snapshot', () => {
    const world = new VectorStore()
    const vectors = randomUnits(3, 64, 23)
    const entries = vectors.map(vector => world.add([vector]))
    const { index } = open(world, 64)
    const bytesOfFirst = () => {
      const scale = Math.max(...(vectors[0] as Float32Array).map(Math.abs)) / 127
      const image = Buffer.concat(index.serialise())
      return image.includes(Buffer.from(Int8Array.from(vectors[0] as Float32Array, x => Math.round(x / scale))))
    }
    expect(bytesOfFirst()).toBe(true)
    world.store.write(2, writer => writer.delete(entries[0] as number))
    index.refresh(world.store)
    expect(bytesOfFirst()).toBe(false)
    expect(index.count({ partitions: world.partitions() })).toBe(2)
  })

  it('uses the room of deleted rows again', () => {
    const world = new VectorStore()
    const fill = () => randomUnits(400, 64, 24).map(vector => world.add([vector], audience('private', 'bob')))
    let entries = fill()
    const { index } = open(world, 64)
    const before = index.byteLength
    for (let round = 0; round < 3; round++) {
      world.store.write(2, writer => entries.map(entry => writer.delete(entry)))
      index.refresh(world.store)
      entries = fill()
      index.refresh(world.store)
    }
    expect(index.byteLength - before).toBeLessThan(64 * 1024)
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
