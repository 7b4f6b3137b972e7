import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../src/base/bitset.ts'
import { atOnce } from '../../../src/base/turns.ts'
import type { VectorSearch } from '../../../src/index/contract.ts'
import { CELL_LIMITS } from '../../../src/index/vectors/cells.ts'
import { Clustering } from '../../../src/index/vectors/clustering.ts'
import { VectorRows } from '../../../src/index/vectors/rows.ts'
import { VectorScan } from '../../../src/index/vectors/scan.ts'
import { openVectorIndex, type VectorIndexOptions } from '../../../src/index/vectors.ts'
import { dot } from '../../../src/math/vector.ts'
import { audience, type PartitionId } from '../../../src/model/partition.ts'
import { MODEL, randomUnits, unitsNear, VectorStore } from '../../support/vector-stores.ts'

const WIDTH = 128
const ROWS = 12_000
/** As for a million rows, but with as many cells for twelve thousand as those have for a quarter of one. */
const CELLS = { dividedFrom: 2000, pivotEvery: 48, prunedFrom: 8000 }
const BOB = audience('private', 'bob')

/** Fewer directions than there are cells; rows of one entry are mostly of one direction. */
const centres = randomUnits(80, WIDTH, 1)
const clustered = centres.flatMap((centre, i) => unitsNear(centre, 0.7, ROWS / centres.length, 100 + i))
const asked = centres.slice(0, 60).flatMap((centre, i) => unitsNear(centre, 0.7, 1, 1000 + i))

function open(world: VectorStore, cells: VectorIndexOptions['cells'] = CELLS) {
  const source = (chunks: readonly number[]) => world.store.vectorsOnly(MODEL, chunks)
  const index = openVectorIndex({ model: MODEL, dimensions: WIDTH, cells, source })
  index.refresh(world.store)
  return index
}

describe('a search of near cells', () => {
  const world = new VectorStore()
  world.addInThrees(clustered)
  world.addInThrees(randomUnits(300, WIDTH, 2), audience('private', 'ann'))
  const index = open(world)
  const both = [...world.partitions(), ...world.partitions(audience('private', 'ann'))]

  const flat = open(world, CELL_LIMITS)

  /** Of near cells, and of a scan of all rows by sign codes, which is not perfect either. */
  const recall = (questions: readonly Float32Array[], more: Partial<VectorSearch> = {}) => {
    const found = { near: 0, flat: 0 }
    let wanted = 0
    for (const vector of questions) {
      const request = { vector, k: 10, partitions: both, ...more }
      const exact = new Set(index.search(request).map(hit => hit.chunk))
      const countOf = (of: typeof index) =>
        of.search({ ...request, approximate: true }).filter(hit => exact.has(hit.chunk)).length
      found.near += countOf(index)
      found.flat += countOf(flat)
      wanted += exact.size
    }
    return { near: found.near / wanted, flat: found.flat / wanted }
  }

  it('finds at least 99 of 100 true neighbours', () => {
    expect(recall(asked).near).toBeGreaterThanOrEqual(0.99)
    expect(recall(asked, { k: 30 }).near).toBeGreaterThanOrEqual(0.98)
  })

  it('finds what a scan of everything does, where the question is near to nothing', () => {
    const { near, flat } = recall(randomUnits(40, WIDTH, 3))
    expect(near).toBeGreaterThanOrEqual(flat - 0.005)
  })

  it('finds rows of partitions that are too small to have cells', () => {
    const mine = randomUnits(30, WIDTH, 2)
    for (const vector of mine) {
      const [first] = index.search({ vector, k: 1, partitions: both, approximate: true })
      expect(first?.score).toBeCloseTo(1, 5)
    }
  })

  it.each([0.9, 0.5, 0.35, 0.1])('keeps to a filter that keeps %d of the entries, however they lie', share => {
    const entries = world.store.scanEntries(0, ROWS)
    const vectorOf = new Map(entries.map(entry => [entry, vectorOfEntry(world, entry)]))
    const kept = Math.round(share * entries.length)
    const sums = Array.from({ length: 3 }, () => ({ near: 0, flat: 0 }))
    const random = Bitset.of(every(entries, share))
    const questions = asked.slice(0, 15)
    for (const vector of questions) {
      const likeness = new Map(entries.map(entry => [entry, dot(vector, vectorOf.get(entry) as Float32Array)]))
      const nearestFirst = [...entries].sort((a, b) => (likeness.get(b) as number) - (likeness.get(a) as number))
      const [near, far] = [nearestFirst.slice(0, kept), nearestFirst.slice(-kept)].map(each => Bitset.of(each))
      for (const [i, allow] of [near as Bitset, far as Bitset, random].entries()) {
        const hits = index.search({ vector, k: 10, partitions: both, allow, approximate: true })
        expect(hits.every(hit => allow.has(hit.entry))).toBe(true)
        const found = recall([vector], { allow })
        const sum = sums[i] as (typeof sums)[number]
        sum.near += found.near
        sum.flat += found.flat
      }
    }
    for (const { near, flat: ofAll } of sums) expect(near).toBeGreaterThanOrEqual(ofAll * 0.99)
  })

  it('answers as an index that was built at once or restored does, whatever came and went', () => {
    const lived = new VectorStore()
    lived.addInThrees(clustered.slice(0, 3000))
    const living = open(lived)
    for (const at of [3000, 6000, 9000]) {
      lived.addInThrees(clustered.slice(at, at + 3000))
      lived.store.write(2, writer => {
        for (let entry = at / 3; entry < at / 3 + 400; entry += 3) writer.delete(entry)
      })
      living.refresh(lived.store)
    }
    const rebuilt = open(lived)
    const restored = openVectorIndex({
      model: MODEL,
      dimensions: WIDTH,
      cells: CELLS,
      source: chunks => lived.store.vectorsOnly(MODEL, chunks),
    })
    restored.restore(Buffer.concat(living.serialise()), living.position)
    for (const vector of asked) {
      for (const k of [10, 60]) {
        const request = { vector, k, partitions: lived.partitions(), approximate: true }
        const expected = rebuilt.search(request)
        expect(living.search(request)).toEqual(expected)
        expect(restored.search(request)).toEqual(expected)
      }
    }
  })

  it.each([
    ['looks at near cells', ROWS],
    ['looks at all rows, one being missing', ROWS + 1],
  ])('does not notice what comes and goes in partitions that it is not asked about when it %s', (_, prunedFrom) => {
    const shared = new VectorStore()
    shared.addInThrees(clustered)
    const seen = open(shared, { ...CELLS, prunedFrom })
    // Of those that are near to nothing, near cells and all rows give different answers.
    const questions = [...asked, ...randomUnits(60, WIDTH, 6)]
    const ask = () =>
      JSON.stringify(
        questions.map(vector => seen.search({ vector, k: 20, partitions: shared.partitions(), approximate: true })),
      )
    const before = ask()
    const hidden = asked.map((vector, i) => shared.add(unitsNear(vector, 0.3, 100, 2000 + i), BOB))
    seen.refresh(shared.store)
    expect(ask()).toBe(before)
    // So many changes at once that the index reads everything again.
    shared.store.write(2, writer => hidden.map(entry => writer.delete(entry)))
    shared.addInThrees(clustered, BOB)
    seen.refresh(shared.store)
    expect(ask()).toBe(before)
  })

  it('is none where exactness is asked for', () => {
    for (const vector of asked.slice(0, 10)) {
      const request = { vector, k: 20, partitions: both }
      expect(index.search(request)).toEqual(flat.search(request))
    }
  })
})

describe('how much is looked at', () => {
  it('is a part where rows lie together, and all of it where they do not', () => {
    const together = scanned(clustered, asked, CELLS)
    const apart = scanned(randomUnits(ROWS, WIDTH, 4), randomUnits(20, WIDTH, 5), CELLS)
    expect(together).toBeLessThan(0.6)
    expect(apart).toBeGreaterThan(0.95)
  })

  it('is most of it under a filter that leaves nothing near the question', () => {
    const size = ROWS / centres.length
    const elsewhere = (question: number) =>
      Bitset.of([...clustered.keys()].filter(entry => Math.floor(entry / size) !== question))
    expect(scanned(clustered, asked.slice(0, 20), CELLS, elsewhere)).toBeGreaterThan(0.9)
  })

  it('is all of what has fewer rows in sight than the limit says', () => {
    expect(scanned(clustered, asked, { ...CELLS, prunedFrom: ROWS + 1 })).toBe(1)
  })
})

/** Mean part of the rows whose sign codes a search compares. */
function scanned(
  vectors: readonly Float32Array[],
  questions: readonly Float32Array[],
  limits: typeof CELLS,
  allowed: (question: number) => Bitset | undefined = () => undefined,
): number {
  const partition: PartitionId = 1
  const rows = new VectorRows(MODEL, WIDTH)
  rows.add(vectors.map((vector, i) => ({ chunk: i, entry: i, partition, vector })))
  atOnce(new Clustering(rows, limits).arrange())
  const { kernel } = rows.memory
  let count = 0
  const counting = {
    ...kernel,
    scanCodes: (extents: number, n: number) => {
      for (let i = 0; i < n; i++) count += rows.memory.words[extents / 4 + 2 * i + 1] as number
      kernel.scanCodes(extents, n)
    },
  }
  Object.assign(rows.memory, { kernel: counting })
  const scan = new VectorScan(rows, limits)
  for (const [i, vector] of questions.entries()) {
    scan.candidates({ vector, k: 10, partitions: [partition], allow: allowed(i), approximate: true })
  }
  return count / questions.length / vectors.length
}

function vectorOfEntry(world: VectorStore, entry: number): Float32Array {
  const [chunk] = world.store.chunksOf(entry)
  return world.store.vectorsOnly(MODEL, [chunk?.key as number])[0]?.vector as Float32Array
}

/** About this share of them, regardless of what they hold. */
function every(entries: readonly number[], share: number): number[] {
  return entries.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share))
}
