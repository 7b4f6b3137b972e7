import { describe, expect, it } from 'vitest'
import { lastCycle } from '../../../../../src/lenses/chroma/memory/cycle-state.ts'
import { runDecayCycle } from '../../../../../src/lenses/chroma/memory/decay.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { tempFolder } from '../../../../../src/testing/temp-folder.ts'
import { DAY, decay, large, MODES_BY_TURN, START, state, World } from './world.ts'

describe('the decay cycle', () => {
  it('takes strength and health from what lies idle, and counts (CQ-134, CQ-135, CQ-136)', async () => {
    const world = new World()
    const idle = world.node('idle', { strength_raw: 10, last_accessed: START })
    const unused = world.node('unused')
    const ascended = world.node('ascended', { strength_raw: 40, ascension: true })
    const frozen = world.node('frozen', { strength_raw: 4, decay_enabled: false })
    const ahead = world.node('ahead', { strength_raw: 4, last_accessed: START + 50 * DAY })
    const broken = world.node('broken', { mode: 'Elephant', strength_raw: 1 })
    const untouched = state(world, [ascended, frozen, ahead, broken])
    world.later(10 * DAY)
    expect(await decay(world)).toEqual({ processed: 3, strength_decayed: 1, health_decayed: 2, errors: 1 })
    expect(world.memory(idle)?.strength_raw).toBeCloseTo(6.376281516217733, 12)
    expect(world.memory(idle)).toMatchObject({ decay_health: 0.8948393168143698, version: 1, last_accessed: START })
    expect(world.memory(unused)).toMatchObject({ strength_raw: 0, decay_health: 0.8948393168143698, version: 1 })
    expect(state(world, [ascended, frozen, ahead, broken])).toEqual(untouched)
  })

  it('does nothing more at the same time, and as much in ten days as in one go (CQ-137)', async () => {
    const worlds = [new World(), new World()] as const
    const keys = worlds.map(world =>
      MODES_BY_TURN.map(mode => world.node(mode, { mode, strength_raw: 10, last_accessed: START })),
    )
    for (let day = 0; day < 10; day++) {
      worlds[0].later(DAY)
      await decay(worlds[0])
    }
    const before = state(worlds[0], keys[0] ?? [])
    expect(await decay(worlds[0])).toMatchObject({ strength_decayed: 0, health_decayed: 0 })
    expect(state(worlds[0], keys[0] ?? [])).toEqual(before)
    worlds[1].later(10 * DAY)
    await decay(worlds[1])
    for (const [at, daily] of before.entries()) {
      const once = worlds[1].memory(keys[1]?.[at] as number)
      expect(Math.abs((daily?.strength_raw ?? 0) - (once?.strength_raw ?? 9))).toBeLessThan(1e-9)
      expect(Math.abs((daily?.decay_health ?? 0) - (once?.decay_health ?? 9))).toBeLessThan(1e-9)
    }
  })

  it('never moves its time back (CQ-137)', async () => {
    const world = new World()
    const a = world.node('a', { strength_raw: 10, last_accessed: START })
    world.later(10 * DAY)
    await decay(world)
    const strength = world.memory(a)?.strength_raw
    world.later(-5 * DAY)
    await decay(world)
    expect(world.memory(a)?.strength_raw).toBe(strength)
    expect(lastCycle(world.store, OWNER)).toBe(START + 10 * DAY)
  })

  it('passes over paused time, switched off either way (CQ-138)', async () => {
    for (const [options, skipped] of [
      [{ decayEnabled: false }, 'global_disabled'],
      [{ enabled: false }, 'memory_disabled'],
    ] as const) {
      const paused = new World(options)
      const world = new World({ store: paused.store })
      const a = world.node('a', { strength_raw: 10, last_accessed: START })
      paused.later(20 * DAY)
      const zero = { processed: 0, strength_decayed: 0, health_decayed: 0, errors: 0 }
      expect(await decay(paused)).toEqual({ ...zero, skipped })
      expect(world.memory(a)).toMatchObject({ strength_raw: 10, version: 0 })
      world.later(30 * DAY)
      await decay(world)
      expect(world.memory(a)?.strength_raw).toBeCloseTo(6.376281516217733, 12)
    }
  })

  it('is each viewer’s own, over what that viewer sees', async () => {
    const world = new World()
    const hidden = world.node('hidden', { strength_raw: 10, last_accessed: START })
    const own = world.node('own', { holder: 'fox' })
    world.later(DAY)
    expect(await decay(world, 'fox')).toMatchObject({ processed: 1, health_decayed: 1 })
    expect(world.memory(hidden, 'fox')).toBeUndefined()
    expect(world.memory(hidden)?.strength_raw).toBe(10)
    expect(world.memory(own, 'fox')?.version).toBe(1)
    expect(lastCycle(world.store, OWNER)).toBe(0)
  })

  it('is seen by the columns of other processes', async () => {
    const world = new World()
    const other = new World({ store: world.store })
    const a = world.node('a', { strength_raw: 10, last_accessed: START })
    other.columns()
    world.later(DAY)
    await decay(world)
    expect(other.columns().memory(a)).toEqual(world.columns().memory(a))
    expect(other.columns().memory(a)?.strength_raw).toBeLessThan(10)
  })
})

describe('a run that was killed', () => {
  it('can be finished, at the same time or later, with the same result', async () => {
    using folder = tempFolder()
    const store = openSqliteStore({ file: folder.file('killed.db') })
    const whole = new World({ store: openSqliteStore({ file: folder.file('whole.db') }) })
    const first = new World({ store })
    const keys = large(whole)
    expect(large(first)).toEqual(keys)
    for (const world of [whole, first]) world.later(3 * DAY)
    await decay(whole)
    // Every time another process, which does one batch and is killed; the last one is let go on.
    for (const isLast of [false, false, true]) {
      const world = new World({ store })
      world.later(3 * DAY)
      const end = new AbortController()
      const report = () => isLast || end.abort()
      const run = runDecayCycle(world.context, OWNER, { now: world.now, signal: end.signal, report })
      if (isLast) expect(await run).toMatchObject({ processed: 500 })
      else await expect(run).rejects.toMatchObject({ code: 'cancelled' })
    }
    expect(state(first, keys)).toEqual(state(whole, keys))
    expect(lastCycle(store, OWNER)).toBe(lastCycle(whole.store, OWNER))

    // Killed after the first batch, and the next run is of another day: nothing decays twice, nothing too little.
    for (const world of [whole, first]) world.later(DAY)
    const end = new AbortController()
    const killed = runDecayCycle(first.context, OWNER, {
      now: first.now,
      signal: end.signal,
      report: () => end.abort(),
    })
    await expect(killed).rejects.toMatchObject({ code: 'cancelled' })
    for (const world of [whole, first]) {
      world.later(DAY)
      await decay(world)
    }
    const [one, other] = [state(first, keys), state(whole, keys)]
    for (const [at, memory] of one.entries()) {
      expect(Math.abs((memory?.strength_raw ?? 0) - (other[at]?.strength_raw ?? 9))).toBeLessThan(1e-9)
      expect(memory?.decay_health).toBe(other[at]?.decay_health)
    }
    store.close()
    whole.store.close()
  }, 60_000)
})
