import { describe, expect, it } from 'vitest'
import type { VectorSource } from '../../../src/index/vectors/settle.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { audience } from '../../../src/model/partition.ts'
import { MODEL, randomUnits, VectorStore } from '../../support/vector-stores.ts'
import { openPair } from './vector-pairs.ts'

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
    expect(openPair(world, 384).index.byteLength / 4096).toBeLessThan(455 + 250_000 / 4096)
  })

  it('forgets what was deleted: no component of it stays in a snapshot', () => {
    const world = new VectorStore()
    const vectors = randomUnits(3, 64, 23)
    const entries = vectors.map(vector => world.add([vector]))
    const { index } = openPair(world, 64)
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
    const { index } = openPair(world, 64)
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
