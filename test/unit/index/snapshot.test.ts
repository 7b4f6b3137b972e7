import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Index } from '../../../src/index/contract.ts'
import {
  loadInSteps,
  loadSnapshot,
  type SnapshotStore,
  saveInSteps,
  saveSnapshot,
} from '../../../src/index/snapshot.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { MODEL, randomUnits, VectorStore } from '../../support/vector-stores.ts'

const WIDTH = 16

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'))
  path = join(folder, 'vectors.snapshot')
})
afterEach(() => rmSync(folder, { recursive: true }))

const world = new VectorStore()
for (const vector of randomUnits(40, WIDTH, 1)) world.add([vector])
const { store } = world
const [query] = randomUnits(1, WIDTH, 2) as [Float32Array]

function emptyIndex(dimensions = WIDTH, model = MODEL) {
  return openVectorIndex({ model, dimensions, source: chunks => store.vectors(MODEL, chunks) })
}

function fullIndex() {
  const index = emptyIndex()
  index.refresh(store)
  return index
}

const ask = (index: ReturnType<typeof emptyIndex>) =>
  index.search({ vector: query, k: 40, partitions: world.partitions() })
const load = (index = emptyIndex(), of: SnapshotStore = store) => loadSnapshot(path, index, of)
/** The store as it would be if some things were otherwise. */
const otherwise = (fields: Partial<SnapshotStore>): SnapshotStore => ({
  storeId: store.storeId,
  lastSeq: () => store.lastSeq(),
  changesSince: (seq, limit) => store.changesSince(seq, limit),
  ...fields,
})

describe('snapshots', () => {
  it('give back an index that answers alike and goes on from its position', () => {
    const index = fullIndex()
    saveSnapshot(path, index, store)
    const restored = emptyIndex()
    expect(load(restored)).toEqual({ ok: true })
    expect(restored.position).toBe(index.position)
    expect(ask(restored)).toEqual(ask(index))
    expect(readdirSync(folder)).toEqual(['vectors.snapshot'])
  })

  it('QE-019: are written and read in a step for every 4 MiB; ended at any of them, the one before stays and no other file', () => {
    const bytes = new Uint8Array(10 << 20).map((_, at) => at % 251)
    const { name, position } = fullIndex()
    // A memory that grows while it is written: its views become empty, and are made again.
    let buffer = bytes.slice().buffer
    const serialise = () => [new Uint8Array(buffer, 0, 5 << 20), new Uint8Array(buffer, 5 << 20)]
    const saving = { name, position, serialise } as unknown as Index
    const stepsOf = (end: number): number => {
      const steps = saveInSteps(path, saving, store)
      for (let count = 1; ; count++) {
        if (steps.next(false).done === true) return count
        buffer = structuredClone(buffer, { transfer: [buffer] })
        if (count === end) {
          steps.return()
          return count
        }
      }
    }
    const count = stepsOf(Number.POSITIVE_INFINITY)
    expect(count).toBeGreaterThan(2 * 2)
    const written = readFileSync(path)
    for (let end = 1; end < count; end++) {
      stepsOf(end)
      expect(readdirSync(folder)).toEqual(['vectors.snapshot'])
    }
    expect(readFileSync(path).equals(written)).toBe(true)
    let restored: Uint8Array = new Uint8Array()
    const taking = { name, position, restore: (given: Uint8Array) => (restored = given) } as unknown as Index
    const steps = loadInSteps(path, taking, store)
    let read = 1
    let step = steps.next(false)
    for (; step.done !== true; step = steps.next(false)) read++
    expect(step.value).toEqual({ ok: true })
    expect(read).toBeGreaterThan(2)
    expect(Buffer.from(restored).equals(bytes)).toBe(true)
  })

  it('are not taken after any one bit changed', () => {
    saveSnapshot(path, fullIndex(), store)
    const whole = readFileSync(path)
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 }), (at, bit) => {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] as number) ^ (1 << bit)
        writeFileSync(path, changed)
        const index = emptyIndex()
        expect(load(index).ok).toBe(false)
        expect(index.position).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  it('are not taken when cut short at any place, or longer than they were', () => {
    saveSnapshot(path, fullIndex(), store)
    const whole = readFileSync(path)
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), length => {
        writeFileSync(path, whole.subarray(0, length))
        expect(load()).toEqual({ ok: false, reason: 'damaged' })
      }),
    )
    writeFileSync(path, Buffer.concat([whole, Buffer.of(0)]))
    expect(load()).toEqual({ ok: false, reason: 'damaged' })
  })

  it('say why they are not taken', () => {
    const reason = (...given: Parameters<typeof load>) => {
      const loaded = load(...given)
      return loaded.ok ? 'taken' : loaded.reason
    }
    expect(reason()).toBe('missing')
    saveSnapshot(path, fullIndex(), store)
    expect(reason(emptyIndex(), otherwise({ storeId: 'store-2' }))).toBe('other_store')
    expect(reason(emptyIndex(WIDTH, 'other@1'))).toBe('other_index')
    expect(reason(emptyIndex(), otherwise({ lastSeq: () => store.lastSeq() - 1 }))).toBe('ahead_of_store')
    const later = store.changesSince(store.lastSeq() - 1, 1).map(change => ({ ...change, at: change.at + 1 }))
    expect(reason(emptyIndex(), otherwise({ changesSince: () => later }))).toBe('other_past')
    expect(reason(emptyIndex(), otherwise({ changesSince: () => [] }))).toBe('other_past')
    expect(reason(emptyIndex(WIDTH + 1))).toBe('refused')
    const bytes = readFileSync(path)
    bytes.writeUInt32LE(2, 8)
    writeFileSync(path, bytes)
    expect(reason()).toBe('other_format')
    writeFileSync(path, 'something else altogether')
    expect(reason()).toBe('damaged')
    rmSync(path)
    expect(loadSnapshot(folder, emptyIndex(), store)).toEqual({ ok: false, reason: 'unreadable' })
  })

  it('replace what a killed process left behind', () => {
    writeFileSync(`${path}.tmp`, 'half a snapshot')
    saveSnapshot(path, fullIndex(), store)
    expect(load()).toEqual({ ok: true })
    expect(existsSync(`${path}.tmp`)).toBe(false)
  })

  it('leave the last one whole when the disk refuses', () => {
    saveSnapshot(path, fullIndex(), store)
    const before = readFileSync(path)
    const refusal = expect.objectContaining({ name: 'QuerentError', code: 'io_failed' })
    expect(() => saveSnapshot(join(folder, 'missing', 'x.snapshot'), fullIndex(), store)).toThrow(refusal)
    mkdirSync(`${path}.tmp`)
    expect(() => saveSnapshot(path, fullIndex(), store)).toThrow(refusal)
    expect(readFileSync(path)).toEqual(before)
  })

  it('of an empty index are taken too', () => {
    saveSnapshot(path, emptyIndex(), store)
    expect(load(emptyIndex(), otherwise({ lastSeq: () => 0 }))).toEqual({ ok: true })
  })
})
