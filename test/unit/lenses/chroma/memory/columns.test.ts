import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryColumns } from '../../../../../src/lenses/chroma/memory/columns.ts'
import { readMemories } from '../../../../../src/lenses/chroma/memory/memory-rows.ts'
import { tellUses } from '../../../../../src/lenses/chroma/memory/uses.ts'
import { MEMORY, NODES } from '../../../../../src/lenses/chroma/tables.ts'
import { QuerentError } from '../../../../../src/model/errors.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { MODES_BY_TURN, START, World } from './world.ts'

/** With some methods replaced. */
function storeOf<T extends object>(real: T, own: Partial<T>): T {
  return new Proxy(real, {
    get: (_, key) => {
      const value = Reflect.get(key in own ? own : real, key)
      return typeof value === 'function' ? value.bind(real) : value
    },
  })
}

describe('the columns', () => {
  it('follow nodes that come, change, and go, and memories that change', () => {
    const world = new World()
    const a = world.node('a')
    const columns = world.columns()
    expect(columns.memory(a)).toEqual({
      last_accessed: START,
      strength_raw: 0,
      ascension: false,
      rotten: false,
      decay_enabled: true,
      mode_name: 'Adaptive',
      used: false,
    })
    const b = world.node('b', { mode: 'Eidetic', strength_raw: 3, decay_enabled: false })
    expect(world.columns().memory(b)).toMatchObject({ strength_raw: 3, mode_name: 'Eidetic', decay_enabled: false })
    world.node('a', { mode: 'Sparse' })
    expect(world.columns().memory(a)?.mode_name).toBe('Sparse')
    world.delete(b)
    expect(world.columns().has(b)).toBe(false)
    expect([columns.size, columns.next(-1), columns.next(a)]).toEqual([1, a, -1])
  })

  it.each([NODES.name, MEMORY.name])('know nothing of what they could not read (%s), and read it later', name => {
    const world = new World()
    const a = world.node('a', { strength_raw: 3, mode: 'Eidetic' })
    let fails = true
    const store = storeOf(world.store, {
      read: body =>
        world.store.read(reader =>
          body(
            storeOf(reader, {
              table: declaration => {
                if (fails && declaration.name === name) throw new QuerentError('io_failed', 'store.db: disk I/O error')
                return reader.table(declaration)
              },
            }),
          ),
        ),
    })
    const columns = new MemoryColumns(store, OWNER)
    expect(() => columns.refresh()).toThrow(expect.objectContaining({ code: 'io_failed' }))
    fails = false
    columns.refresh()
    expect(columns.memory(a)).toMatchObject({ strength_raw: 3, mode_name: 'Eidetic', used: true })
  })

  it('of every process are the same after any history', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('node'), id: fc.nat(5), mode: fc.constantFrom(...MODES_BY_TURN) }),
      fc.record({ do: fc.constantFrom('use', 'delete', 'look'), id: fc.nat(5), mode: fc.constant('Sparse') }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const one = new World()
        const two = new World({ store: one.store })
        for (const [at, { do: what, id, mode }] of steps.entries()) {
          const world = at % 2 === 0 ? one : two
          world.later(1000)
          const key = one.store.find(String(id), one.context.host.sight({ id: OWNER }).partitions)[0]
          if (what === 'node')
            world.node(String(id), { mode, created_at: START, ...(at % 3 === 0 && { rotten: true }) })
          else if (what === 'look') world.columns().stored(one.store, key === undefined ? [] : [key])
          else if (key !== undefined && what === 'use') world.record([key], START + at * 1000)
          else if (key !== undefined) world.delete(key)
        }
        const fresh = new MemoryColumns(one.store, OWNER)
        fresh.refresh()
        const keys = one.store.scanEntries(-1, 100)
        const memories = readMemories(one.store, OWNER, keys)
        for (const columns of [one.columns(), two.columns()]) {
          expect(contents(columns)).toEqual(contents(fresh))
          expect(columns.stored(one.store, keys)).toEqual(memories)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('say which nodes are not rotten, when some are', () => {
    const world = new World()
    const [a, b] = [world.node('a'), world.node('b')]
    expect(world.columns().allow).toBeNull()
    world.node('b', { rotten: true })
    expect([...(world.columns().allow ?? [])]).toEqual([a])
    world.record([b])
    expect(world.columns().allow).toBeNull()
    world.node('b', { rotten: true })
    world.delete(b)
    expect(world.columns().allow).toBeNull()
  })

  it('are read again when the log of uses or the feed does not reach back', () => {
    const world = new World()
    const a = world.node('a')
    const late = new MemoryColumns(world.store, OWNER)
    late.refresh()
    for (let i = 0; i < 4200; i++) world.record([a])
    expect(contents(late)).not.toEqual(contents(world.columns()))
    late.refresh()
    expect(contents(late)).toEqual(contents(world.columns()))
    world.node('b')
    world.node('c')
    world.store.write(START, writer => writer.pruneChanges(writer.lastSeq()))
    late.refresh()
    expect(late.size).toBe(3)
    world.store.write(START, writer => {
      tellUses(writer, OWNER, null)
    })
    late.refresh()
    expect(contents(late)).toEqual(contents(world.columns()))
  })
})

function contents(columns: MemoryColumns): readonly unknown[] {
  const all: unknown[] = []
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) all.push([entry, columns.memory(entry)])
  return [...all, columns.allow === null ? null : [...columns.allow]]
}
