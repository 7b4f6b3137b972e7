import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AccessUpdates, runDecayCycle } from '../../../../../src/lenses/chroma/memory/changes.ts'
import { statisticsOf } from '../../../../../src/lenses/chroma/nodes/points.ts'
import { type ErrorCode, QuerentError } from '../../../../../src/model/errors.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { DAY, START, World } from './world.ts'

/** A store whose next writes find it locked, or fail otherwise. */
function lockable(): { store: Store; failNext: (times: number, code?: ErrorCode) => void } {
  const real = openMemoryStore()
  let failures = 0
  let code: ErrorCode = 'store_locked'
  const write: Store['write'] = (now, body, waitMs) => {
    if (failures-- > 0) throw new QuerentError(code, '/a/path: refused')
    return real.write(now, body, waitMs)
  }
  const store = new Proxy(real, {
    get: (target, name) => {
      if (name === 'write') return write
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    store,
    failNext: (times, as = 'store_locked') => {
      failures = times
      code = as
    },
  }
}

describe('access updates', () => {
  it('of two processes add up, and each sees the other’s (CQ-071)', () => {
    using folder = tempFolder()
    const file = folder.file('store.db')
    const one = new World({ store: openSqliteStore({ file }) })
    const two = new World({ store: openSqliteStore({ file }) })
    const [a, b] = [one.node('a'), one.node('b')]
    two.columns()
    for (let i = 0; i < 3; i++) {
      one.record([a, b])
      two.record([b])
    }
    expect(one.memory(a)).toMatchObject({ access_count: 3, version: 3 })
    expect(one.memory(b)).toMatchObject({ access_count: 6, version: 6 })
    expect(one.columns().memory(b)).toEqual(two.columns().memory(b))
    expect(one.columns().memory(b)?.strength_raw).toBeCloseTo(1.2, 12)
    one.store.close()
    two.store.close()
  })

  it('are retried at most five times while the store is locked, then skipped with a warning (CQ-071)', () => {
    const { store, failNext } = lockable()
    const world = new World({ store })
    const a = world.node('a')
    failNext(5)
    expect(world.record([a])).toEqual([])
    expect(world.memory(a)?.access_count).toBe(1)
    failNext(6)
    expect(world.record([a])).toMatchObject([{ code: 'access_update_skipped', details: { count: 1 } }])
    expect(world.memory(a)?.access_count).toBe(1)
    world.record([a])
    expect(world.memory(a)?.access_count).toBe(2)
  })

  it.each(['io_failed', 'store_readonly'] as const)('keep nobody from asking when the store says %s', code => {
    const { store, failNext } = lockable()
    const world = new World({ store })
    const a = world.node('a')
    failNext(1, code)
    expect(world.record([a])).toMatchObject([
      { code: 'access_update_skipped', message: expect.not.stringContaining('/'), details: { count: 1 } },
    ])
    expect(world.columns().memory(a)).toMatchObject({ strength_raw: 0, used: false })
    expect(world.record([a])).toEqual([])
    expect(world.memory(a)?.access_count).toBe(1)
  })

  it('fail with a store that is damaged', () => {
    const { store, failNext } = lockable()
    const world = new World({ store })
    const a = world.node('a')
    failNext(1, 'store_corrupt')
    expect(() => world.record([a])).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
  })
})

describe('queued access updates (CQ-103, CQ-104)', () => {
  /** A timer that goes off when told. */
  function byHand() {
    let due: (() => void) | null = null
    let asked = 0
    return {
      timer: (run: () => void, ms: number) => {
        asked = ms
        due = run
        return () => {
          due = null
        }
      },
      goOff: () => {
        const run = due
        due = null
        run?.()
      },
      get ms() {
        return asked
      },
      get armed() {
        return due !== null
      },
    }
  }

  it('wait for one second after the first, for a hundred, for flush or for the end', () => {
    const hand = byHand()
    const world = new World({ mode: 'queued', timer: hand.timer })
    const a = world.node('a')
    const count = () => world.memory(a)?.access_count ?? 0
    world.record([a])
    world.record([a])
    expect([count(), hand.ms]).toEqual([0, 1000])
    hand.goOff()
    expect([count(), hand.armed]).toEqual([2, false])
    for (let i = 0; i < 99; i++) world.record([a])
    expect(count()).toBe(2)
    world.record([a])
    expect([count(), hand.armed]).toEqual([102, false])
    world.record([a])
    world.context.access.flush()
    expect(count()).toBe(103)
    world.record([a])
    world.context.access.close()
    expect([count(), hand.armed]).toEqual([104, false])
  })

  it('end in the same state as immediate ones, each hit by its own time, without what was deleted', () => {
    const hits = fc.array(
      fc.record({ node: fc.nat(3), after: fc.nat(4 * DAY), viewer: fc.constantFrom(OWNER, 'fox') }),
      {
        maxLength: 60,
      },
    )
    fc.assert(
      fc.property(hits, given => {
        const [queued, immediate] = (['queued', 'immediate'] as const).map(mode => {
          const world = new World({ mode })
          const nodes = ['a', 'b', 'c', 'd'].map((id, at) =>
            world.node(id, { mode: ['Sparse', 'Eidetic'][at % 2] ?? '' }),
          )
          const doomed = world.node('doomed')
          if (mode === 'queued') world.record([doomed])
          for (const { node, after, viewer } of given) {
            world.later(after)
            world.record([nodes[node] as number], world.now, viewer)
          }
          world.delete(doomed)
          world.context.access.close()
          return nodes.flatMap(node => [world.memory(node), world.memory(node, 'fox')])
        })
        expect(queued).toEqual(immediate)
      }),
      { numRuns: 30 },
    )
  })

  it('are written before decay and statistics', async () => {
    const world = new World({ mode: 'queued', timer: byHand().timer })
    const a = world.node('a')
    world.record([a])
    expect(statisticsOf(world.context, OWNER).strength.max).toBe(0.2)
    world.record([a])
    await runDecayCycle(world.context, OWNER, { now: world.now })
    expect(world.memory(a)?.access_count).toBe(2)
  })

  it('wait on while the store is locked, and say so', () => {
    const { store, failNext } = lockable()
    const hand = byHand()
    const world = new World({ store, mode: 'queued', timer: hand.timer })
    const a = world.node('a')
    world.record([a])
    failNext(6)
    expect(world.context.access.flush()).toMatchObject([{ code: 'access_update_deferred' }])
    expect(hand.armed).toBe(true)
    hand.goOff()
    expect(world.memory(a)?.access_count).toBe(1)
  })

  it('go off by themselves', async () => {
    const world = new World()
    const a = world.node('a')
    const { store } = world
    const access = new AccessUpdates({
      store,
      memories: world.context.memories,
      mode: 'queued',
      memoryEnabled: true,
    })
    access.record(OWNER, [a], START)
    await expect.poll(() => world.memory(a)?.access_count).toBe(1)
  })
})
