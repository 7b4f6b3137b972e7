import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { PointBlocks } from '../../../src/index/points/blocks.ts'
import { CELL, cellOf, type Point, PointList, partOf } from '../../../src/index/points/grid.ts'
import { searchPoints } from '../../../src/index/points/search.ts'
import { seededUniform } from '../../support/seeded.ts'
import { bruteForce, partitionOf } from './point-samples.ts'

describe('the grid', () => {
  it('puts what lies outside of the colour space into the cells at its border', () => {
    expect(cellOf(-1e9, -1e9, -1e9)).toBe(cellOf(0, -128, -128))
    expect(cellOf(1e9, 1e9, 1e9)).toBe(cellOf(100, 127, 127))
    expect(cellOf(0, 0, CELL)).toBe(cellOf(0, 0, 0) + 1)
    expect(partOf(1e9, 1e9, 1e9)).toBe(partOf(100, 127, 127))
  })

  it('parts a cell into eight', () => {
    const ends = [0, CELL / 2 - 0.1, CELL / 2, CELL - 0.1]
    const parts = ends.flatMap(l => ends.flatMap(a => ends.map(b => partOf(l, a - 128, b - 128))))
    expect(new Set(parts).size).toBe(8)
    expect(parts).not.toContain(cellOf(0, -128, -128))
  })
})

describe('blocks', () => {
  it('keep their numbers while points come and go', () => {
    const blocks = new PointBlocks()
    blocks.add({ entry: 1, partition: 1, point: [1, 1, 1] })
    blocks.add({ entry: 2, partition: 1, point: [90, 1, 1] })
    const [first, second] = [blocks.blockOf(1), blocks.blockOf(2)]
    expect(first).not.toBe(second)
    blocks.remove(1)
    expect(blocks.blockOf(1)).toBe(-1)
    for (let entry = 3; entry < 50; entry++) blocks.add({ entry, partition: 1, point: [2, 1, 1] })
    expect(blocks.blockOf(49)).toBe(first)
    expect(blocks.blockOf(2)).toBe(second)
    expect(blocks.count).toBe(2)
  })

  it('are smaller where points crowded when they were loaded', () => {
    const uniform = seededUniform(4)
    const columns = new PointList(300)
    const somewhere = () => [uniform() * CELL, uniform() * CELL, uniform() * CELL] as const
    for (let entry = 1; entry <= 200; entry++) columns.push(entry, 1, somewhere())
    for (let entry = 201; entry <= 250; entry++) columns.push(entry, 2, somewhere())
    const blocks = new PointBlocks()
    atOnce(blocks.load(columns.arrays))
    const of = (from: number, to: number) =>
      new Set(Array.from({ length: to - from + 1 }, (_, at) => blocks.blockOf(from + at)))
    expect(of(1, 200).size).toBe(8)
    expect(of(201, 250).size).toBe(1)
    // What comes later goes where the others near it are.
    blocks.add({ entry: 251, partition: 1, point: blocks.pointAt(blocks.slotOf(1)) })
    expect(blocks.blockOf(251)).toBe(blocks.blockOf(1))
  })

  it('belong to one partition each', () => {
    const blocks = new PointBlocks()
    blocks.add({ entry: 1, partition: 1, point: [1, 1, 1] })
    blocks.add({ entry: 2, partition: 2, point: [1, 1, 1] })
    expect(blocks.blockOf(1)).not.toBe(blocks.blockOf(2))
  })

  it('keep nothing of what was deleted, and use its room again', () => {
    const blocks = new PointBlocks()
    const secret = 12.345678
    for (let round = 0; round < 50; round++) {
      for (let entry = 1; entry <= 40; entry++) blocks.add({ entry, partition: 1, point: [secret, entry, round] })
      for (let entry = 1; entry <= 40; entry++) blocks.remove(entry)
    }
    expect(blocks.runs.arrays.coordinates.includes(secret)).toBe(false)
    expect(blocks.points).toBe(0)
    expect(blocks.byteLength).toBeLessThan(100_000)
  })

  it('hold what they should after any number of points came, moved and went', () => {
    const uniform = seededUniform(17)
    const blocks = new PointBlocks()
    const points: Point[] = []
    for (let turn = 0; turn < 4000; turn++) {
      const entry = Math.floor(uniform() * 600)
      blocks.remove(entry)
      delete points[entry]
      if (uniform() < 0.3) continue
      const point: Point = [uniform() * 20, uniform() * 20, uniform() * 20]
      points[entry] = point
      blocks.add({ entry, partition: partitionOf(entry), point })
    }
    const request = { point: [9, 9, 9] as const, k: Number.POSITIVE_INFINITY, partitions: [1, 2, 3] }
    expect(searchPoints(blocks, request)).toEqual(bruteForce({ points, blocks }, request))
    expect(searchPoints(blocks, { ...request, k: 30 })).toEqual(bruteForce({ points, blocks }, { ...request, k: 30 }))
  })

  it('shrink when the farthest points of theirs go', () => {
    const blocks = new PointBlocks()
    for (let entry = 1; entry <= 3; entry++) blocks.add({ entry, partition: 1, point: [entry, 1, 1] })
    blocks.remove(1)
    blocks.remove(3)
    expect(blocks.boxes.distance(0, 0, 1, 1)).toBe(2)
    expect(blocks.regionBoxes.distance(0, 9, 1, 1)).toBe(7)
  })
})
