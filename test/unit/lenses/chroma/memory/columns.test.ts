/** What columns say of a node; `test/suites/columns.test.ts` holds them to the store. */
import { describe, expect, it } from 'vitest'
import { START, World } from './world.ts'

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
})
