import { describe, expect, it } from 'vitest'
import { toUnit } from '../../../src/math/vector.ts'
import { audience } from '../../../src/model/partition.ts'
import { randomUnits, unitsNear, VectorStore } from '../../support/vector-stores.ts'
import { MANY, openPair } from './vector-pairs.ts'

describe('approximate search', () => {
  it('finds at least 99 of 100 true neighbours', () => {
    const world = new VectorStore()
    const centres = randomUnits(90, 128, 10)
    for (const [i, centre] of centres.entries()) world.addInThrees(unitsNear(centre, 1, MANY / 90, 100 + i))
    const { index, reference } = openPair(world, 128)
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

  it.each([128, 384])('finds at least 95 of 100 true neighbours of %i components where eighty are wanted', size => {
    const world = new VectorStore()
    const centres = randomUnits(90, size, 40)
    for (const [i, centre] of centres.entries()) world.addInThrees(unitsNear(centre, 1, MANY / 90, 400 + i))
    const { index } = openPair(world, size)
    let found = 0
    const asked = centres.slice(0, 20).flatMap((centre, i) => unitsNear(centre, 1, 1, 3000 + i))
    for (const vector of asked) {
      const request = { vector, k: 80, partitions: world.partitions() }
      const exact = new Set(index.search(request).map(hit => hit.entry))
      found += index.search({ ...request, approximate: true }).filter(hit => exact.has(hit.entry)).length
    }
    expect(found / (asked.length * 80)).toBeGreaterThanOrEqual(0.95)
  })

  it('does so too when a few components carry most of the meaning', () => {
    const world = new VectorStore()
    const uneven = (vector: Float32Array) => toUnit(vector.map((x, i) => x / (i + 1))) as Float32Array
    const centres = randomUnits(90, 128, 30)
    for (const [i, centre] of centres.entries()) {
      world.addInThrees(unitsNear(centre, 1, MANY / 90, 300 + i).map(uneven))
    }
    const { index } = openPair(world, 128)
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
    const { index } = openPair(world, 64)
    const hits = index.search({ vector: centre, k: 10, partitions: world.partitions(), approximate: true })
    expect(new Set(hits.map(hit => hit.entry)).size).toBe(10)
    expect(hits[0]?.entry).toBe(1)
  })

  it('does not notice rows that the viewer may not see, near as they are', () => {
    const world = new VectorStore()
    world.addInThrees(randomUnits(MANY, 64, 14))
    const { index } = openPair(world, 64)
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
      openPair(world, 64)
        .index.search({ vector: query, k: 50, partitions: world.partitions(), approximate: true })
        .map(hit => hit.score)
    expect(scores(forth)).toEqual(scores(back))
  })
})
