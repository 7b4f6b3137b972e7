import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runLifecycleCheck } from '../../../../../src/lenses/chroma/memory/lifecycle.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { DAY, decay, large, MODES_BY_TURN, START, state, World } from './world.ts'

describe('the lifecycle check', () => {
  const check = (world: World, viewer = OWNER) => runLifecycleCheck(world.context, viewer, { now: world.now })

  it('lets ascend for good, rotten or not (CQ-139)', async () => {
    const world = new World()
    const strong = world.node('strong', { strength_raw: 20 })
    const rescued = world.node('rescued', { strength_raw: 25, rotten: true })
    const weak = world.node('weak', { strength_raw: 19.9 })
    expect(await check(world)).toEqual({ ascensions: 2, rots: 0, errors: 0 })
    expect(world.memory(strong)).toMatchObject({ ascension: true, rotten: false, version: 1 })
    expect(world.memory(rescued)).toMatchObject({ ascension: true, rotten: false, version: 1 })
    expect(world.memory(weak)).toMatchObject({ ascension: false, version: 0 })
    world.later(500 * DAY)
    await decay(world)
    await check(world)
    expect(world.memory(strong)).toMatchObject({ ascension: true, strength_raw: 20, version: 1 })
  })

  it('lets rot what is neither recent nor strong, but nothing Eidetic (CQ-140)', async () => {
    const world = new World()
    const [a, eidetic] = [world.node('a'), world.node('e', { mode: 'Eidetic' })]
    world.later(10.5 * DAY)
    expect(await check(world)).toEqual({ ascensions: 0, rots: 0, errors: 0 })
    world.later(0.1 * DAY)
    expect(await check(world)).toEqual({ ascensions: 0, rots: 1, errors: 0 })
    expect(world.memory(a)).toMatchObject({ rotten: true, version: 1, last_accessed: START })
    expect(world.memory(eidetic)).toBeUndefined()
    expect([...(world.columns().allow ?? [])]).toEqual([eidetic])
    expect(await check(world)).toEqual({ ascensions: 0, rots: 0, errors: 0 })
  })

  it('passes over frozen nodes, is skipped with memory off, not with decay off (CQ-141)', async () => {
    const off = new World({ enabled: false })
    const paused = new World({ store: off.store, decayEnabled: false })
    off.node('frozen', { decay_enabled: false })
    off.node('frozen and strong', { decay_enabled: false, strength_raw: 99 })
    off.node('broken', { mode: 'Elephant' })
    const idle = off.node('idle', { decay_health: 0.001 })
    const healthless = off.node('healthless', { decay_health: 0, last_accessed: START + 90 * DAY })
    off.later(90 * DAY)
    paused.later(90 * DAY)
    expect(await check(off)).toEqual({ ascensions: 0, rots: 0, errors: 0, skipped: 'memory_disabled' })
    expect(await check(paused)).toEqual({ ascensions: 0, rots: 1, errors: 1 })
    expect(off.memory(idle)?.rotten).toBe(true)
    expect(off.memory(healthless)?.rotten).toBe(false)
  })

  it('never leaves both flags set (CQ-141)', async () => {
    const node = fc.record({ strength_raw: fc.double({ min: 0, max: 60, noNaN: true }), rotten: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(node, { maxLength: 8 }), fc.nat(40), async (nodes, days) => {
        const world = new World()
        const keys = nodes.map((fields, at) => world.node(String(at), { ...fields, mode: MODES_BY_TURN[at % 4] ?? '' }))
        world.later(days * DAY)
        await decay(world)
        await check(world)
        for (const memory of state(world, keys)) expect(memory?.ascension && memory.rotten).not.toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  it('that was cut off is finished by the next', async () => {
    const world = new World()
    const keys = large(world)
    world.later(40 * DAY)
    const end = new AbortController()
    const run = runLifecycleCheck(world.context, OWNER, {
      now: world.now,
      signal: end.signal,
      report: () => end.abort(),
    })
    await expect(run).rejects.toMatchObject({ code: 'cancelled' })
    await check(world)
    const whole = new World()
    large(whole)
    whole.later(40 * DAY)
    const report = await check(whole)
    expect(report.rots).toBeGreaterThan(1000)
    expect(state(world, keys)).toEqual(state(whole, keys))
  })
})
