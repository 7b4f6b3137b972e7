import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { type Block, type Cell, cellsOf, pivotOf, type Slot, slotsOf } from '../../../src/index/vectors/cells.ts'
import { Clustering } from '../../../src/index/vectors/clustering.ts'
import { imageOf, readImage } from '../../../src/index/vectors/image.ts'
import { VectorRows } from '../../../src/index/vectors/rows.ts'
import type { ChunkVector } from '../../../src/store/store.ts'
import { MODEL, randomUnits } from '../../support/vector-stores.ts'

const WIDTH = 24
const LIMITS = { dividedFrom: 24, pivotEvery: 4, prunedFrom: 0 }
const LAST_ENTRY = 40
/** Few enough that some come twice, also among pivots. */
const VECTORS = randomUnits(90, WIDTH, 1)

/** An entry that comes again with these vectors, or goes. */
interface Step {
  readonly entry: number
  readonly vectors: readonly number[]
}

interface World {
  readonly rows: VectorRows
  readonly clustering: Clustering
}

const histories = () => {
  const vectors = fc.array(fc.nat({ max: VECTORS.length - 1 }), { maxLength: 5 })
  const step = fc.record({ entry: fc.integer({ min: 1, max: LAST_ENTRY }), vectors })
  return fc.array(fc.array(step, { maxLength: 30, size: 'max' }), { maxLength: 8, size: 'max' })
}

function emptyWorld(): World {
  const rows = new VectorRows(MODEL, WIDTH)
  return { rows, clustering: new Clustering(rows, LIMITS) }
}

/** As a refresh does: changed entries go, then come as they are now. Entries are of two partitions. */
function apply({ rows, clustering }: World, steps: readonly Step[]): void {
  const now = new Map(steps.map(step => [step.entry, step.vectors]))
  for (const entry of now.keys()) rows.removeEntry(entry)
  rows.add([...now].flatMap(([entry, vectors]) => vectors.map((vector, i) => rowOf(entry, vector, i))))
  atOnce(clustering.arrange())
}

function rowOf(entry: number, vector: number, i: number): ChunkVector {
  return { chunk: entry * 10 + i, entry, partition: 1 + (entry % 2), vector: VECTORS[vector] as Float32Array }
}

describe('a divided partition', () => {
  it('has every row in one cell, that of the pivot nearest to it, after any history', () => {
    fc.assert(
      fc.property(histories(), history => {
        const world = emptyWorld()
        const entries = new Map<number, number>()
        for (const steps of history) {
          apply(world, steps)
          for (const { entry, vectors } of steps) entries.set(entry, vectors.length)
          const all = [...world.rows.blocks].flatMap(block => [...cellsOf(block)].flatMap(cell => [...slotsOf(cell)]))
          expect(new Set(all).size).toBe(all.length)
          expect(all.sort(ascending)).toEqual(chained(world.rows, entries))
          for (const block of world.rows.blocks) expectDivided(world.rows, block)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('is divided as if it had been so at once, whatever came and went before', () => {
    fc.assert(
      fc.property(histories(), history => {
        const world = emptyWorld()
        for (const steps of history) apply(world, steps)
        const last = new Map(history.flat().map(step => [step.entry, step.vectors]))
        const rebuilt = emptyWorld()
        apply(
          rebuilt,
          [...last].reverse().map(([entry, vectors]) => ({ entry, vectors })),
        )
        for (const block of world.rows.blocks) {
          // One that has shrunk may be divided still.
          if (block.rows < LIMITS.dividedFrom) continue
          expect(reported(world.rows, block)).toEqual(reported(rebuilt.rows, rebuilt.rows.blockFor(block.partition)))
        }
      }),
      { numRuns: 150 },
    )
  })

  it('is restored as it was, and goes on from there', () => {
    fc.assert(
      fc.property(histories(), histories(), (history, later) => {
        const world = emptyWorld()
        for (const steps of history) apply(world, steps)
        const restored = emptyWorld()
        atOnce(readImage(Buffer.concat(imageOf(world.rows, LIMITS)), restored.rows, LIMITS, LAST_ENTRY))
        for (const steps of [[], ...later]) {
          for (const each of [world, restored]) apply(each, steps)
          const blocks = [...world.rows.blocks]
          for (const block of blocks) {
            expect(reported(restored.rows, restored.rows.blockFor(block.partition))).toEqual(
              reported(world.rows, block),
            )
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('holds no room for what left it', () => {
    const world = emptyWorld()
    const fill = () =>
      apply(
        world,
        Array.from({ length: 40 }, (_, i) => ({ entry: i + 1, vectors: [i, i + 20, i + 40] })),
      )
    fill()
    const before = world.rows.byteLength
    for (let round = 0; round < 5; round++) {
      apply(
        world,
        Array.from({ length: 35 }, (_, i) => ({ entry: i + 1, vectors: [] })),
      )
      fill()
    }
    expect(world.rows.byteLength).toBe(before)
  })
})

function expectDivided(rows: VectorRows, block: Block): void {
  const slots = [...cellsOf(block)].flatMap(cell => [...slotsOf(cell)])
  expect(block.rows).toBe(slots.length)
  if (block.cells.length === 0) {
    expect(block.rows < LIMITS.dividedFrom || slots.every(slot => !isPivot(rows, slot))).toBe(true)
    return
  }
  expect(block.home.rows).toBe(0)
  const keys = block.cells.map(cell => pivotOf(cell).key)
  expect(keys).toEqual(
    [...new Set(slots.filter(slot => isPivot(rows, slot)).map(slot => keyOf(rows, slot)))].sort(ascending),
  )
  for (const cell of block.cells) {
    expect(keyOf(rows, pivotOf(cell).slot)).toBe(pivotOf(cell).key)
    for (const slot of slotsOf(cell)) {
      const most = Math.max(...block.cells.map(one => cosineOf(rows, slot, one)))
      expect(cosineOf(rows, slot, cell)).toBe(most)
    }
  }
}

/** Chunks by the key of the pivot they lie with. */
function reported(rows: VectorRows, block: Block): unknown {
  return [...cellsOf(block)].map(cell => [
    cell.pivot?.key,
    [...slotsOf(cell)].map(slot => rows.chunk(slot)).sort(ascending),
  ])
}

function chained(rows: VectorRows, entries: ReadonlyMap<number, number>): Slot[] {
  const slots: Slot[] = []
  for (const [entry, count] of entries) {
    const before = slots.length
    for (let slot = rows.first(entry); slot >= 0; slot = rows.next(slot)) {
      expect(rows.entry(slot)).toBe(entry)
      slots.push(slot)
    }
    expect(slots.length - before).toBe(count)
  }
  return slots.sort(ascending)
}

function keyOf(rows: VectorRows, slot: Slot): number {
  return rows.memory.kernel.keyOf(slot)
}

function isPivot(rows: VectorRows, slot: Slot): boolean {
  return keyOf(rows, slot) % LIMITS.pivotEvery === 0
}

/** In the same operations as the kernel's, so that rows between two pivots do not depend on rounding. */
function cosineOf(rows: VectorRows, slot: Slot, cell: Cell): number {
  const [a, b] = [slot, pivotOf(cell).slot].map(one => componentsOf(rows, one)) as [Int8Array, Int8Array]
  const product = a.reduce((sum, component, i) => sum + component * (b[i] as number), 0)
  const square = b.reduce((sum, component) => sum + component * component, 0)
  return product * (1 / Math.sqrt(square))
}

function componentsOf({ memory }: VectorRows, slot: Slot): Int8Array {
  const { int8At, width } = memory.layout
  return new Int8Array(memory.bytes.buffer, memory.address(slot, int8At, width), width)
}

function ascending(a: number, b: number): number {
  return a - b
}
