import { describe, expect, it } from 'vitest'
import { openPointIndex } from '../../../src/index/points.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { COLUMNS, POINTS, PointWorld } from '../../support/point-world.ts'

const OPTIONS = { name: 'places', table: POINTS, columns: COLUMNS }

describe('the point index', () => {
  const filled = () => {
    const world = new PointWorld(openMemoryStore())
    for (const [at, id] of [...'abcdef'].entries()) {
      world.apply([{ do: 'put', id, audience: at % 2 ? 'ann' : 'public', point: [at, 0.1 * at, 0] }])
    }
    const index = openPointIndex(OPTIONS)
    index.refresh(world.store)
    return { world, index, bytes: Buffer.concat(index.serialise()) }
  }

  it('begins a new generation when the list of arrivals grows long', () => {
    const { world, index } = filled()
    const { generation } = index
    const touch = world.store.scanEntries(0, 10)
    for (let round = 0; index.generation === generation; round++) {
      world.store.write(round, writer => touch.forEach(entry => void writer.announce(entry)))
      index.refresh(world.store)
      expect(index.arrivals.length).toBeLessThanOrEqual(20_000)
      expect(round).toBeLessThan(4000)
    }
    expect(index.generation).toBe(generation + 1)
  })

  it('refuses every snapshot that was cut short or lengthened, and stays as it was', () => {
    const { index, bytes } = filled()
    for (let length = 0; length < bytes.byteLength; length++) {
      expect(() => index.restore(bytes.subarray(0, length), 9)).toThrow()
    }
    expect(() => index.restore(Buffer.concat([bytes, bytes.subarray(0, 28)]), 9)).toThrow()
    expect(index.count({ partitions: [1, 2, 3, 4, 5] })).toBe(6)
    expect(index.position).not.toBe(9)
  })

  it('refuses snapshots of other tables, with an entry twice, below 0, or with a coordinate that is no number', () => {
    const { index, bytes } = filled()
    const restore = (edit: (bytes: Buffer) => void, options = OPTIONS) => {
      const copy = Buffer.from(bytes)
      edit(copy)
      return () => openPointIndex(options).restore(copy, index.position)
    }
    const end = bytes.byteLength
    expect(restore(() => {})).not.toThrow()
    expect(restore(() => {}, { ...OPTIONS, columns: ['y', 'x', 'z'] as never })).toThrow('snapshot.columns')
    expect(restore(() => {}, { ...OPTIONS, table: { ...POINTS, name: 'others' } })).toThrow('snapshot.table')
    expect(restore(copy => copy.writeInt32LE(copy.readInt32LE(end - 8), end - 4))).toThrow('each entry once')
    expect(restore(copy => copy.writeInt32LE(-1, end - 4))).toThrow('entry key')
    expect(restore(copy => copy.writeDoubleLE(Number.NaN, end - 6 * 28))).toThrow('finite')
  })

  it('takes only tables of entries, and columns of reals', () => {
    const open = (change: object) => () => openPointIndex({ ...OPTIONS, ...change })
    expect(open({ table: { ...POINTS, ofEntry: false } })).toThrow('table of entries')
    expect(open({ table: { ...POINTS, key: ['note'] } })).toThrow('table of entries')
    expect(open({ columns: ['x', 'y', 'note'] })).toThrow('a column of type real')
    expect(open({ columns: ['x', 'y', 'w'] })).toThrow('a column of type real')
  })
})
