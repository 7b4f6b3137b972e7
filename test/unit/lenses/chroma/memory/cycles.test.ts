import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { memoryJobs, runDecayCycle, runLifecycleCheck } from '../../../../../src/lenses/chroma/memory/changes.ts'
import { lastCycle, MEMORY } from '../../../../../src/lenses/chroma/tables.ts'
import type { Condition } from '../../../../../src/lenses/lens.ts'
import { QuerentError } from '../../../../../src/model/errors.ts'
import type { Progress } from '../../../../../src/model/operation.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { DAY, decay, large, START, state, World } from './world.ts'

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
  })
})

describe('the lifecycle check', () => {
  const check = (world: World, viewer = OWNER) => runLifecycleCheck(world.context, viewer, { now: world.now })

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

describe('the daily job', () => {
  const held = () => undefined
  const run = async (world: World, signal = new AbortController().signal, requireHeld: Condition = held) => {
    const reported: Progress[] = []
    const [job] = memoryJobs(() => world.context)
    await job?.run(world.context.host, world.clock.now(), signal, progress => reported.push(progress), requireHeld)
    return reported
  }

  it('decays and checks once a day, for the owner and for all who used something', async () => {
    const world = new World()
    const own = world.node('own', { holder: 'fox' })
    const a = world.node('a')
    world.record([own], START, 'fox')
    world.later(11 * DAY)
    const found = await run(world)
    expect(found.map(({ current, phase }) => `${current} ${phase}`)).toEqual([
      'owner decay',
      'owner lifecycle',
      'fox decay',
      'fox lifecycle',
    ])
    expect(world.memory(a)).toMatchObject({ rotten: true, version: 2 })
    expect(world.memory(own, 'fox')).toMatchObject({ rotten: true, access_count: 1 })
    expect(await run(world)).toEqual([])
    world.later(DAY - 1)
    expect(await run(world)).toEqual([])
    world.later(1)
    expect(await run(world)).toHaveLength(4)
  })

  it('CQ-151: announces that many would rot in status and doctor first, and does it in its next cycle', async () => {
    await using engine = await openTestEngine({ clock: new SettableClock(START * 1000) })
    const world = new World({ store: engine.host('chroma').store })
    const old = Array.from({ length: 25 }, (_, at) => world.node(`old${at}`))
    world.later(12 * DAY)
    const rotten = () => old.filter(key => world.memory(key)?.rotten === true).length
    await run(world)
    expect(rotten()).toBe(0)
    const { notices } = await engine.status()
    expect(notices).toEqual([expect.stringMatching(/^25 of 25 nodes of owner rot in the next daily run/)])
    expect((await engine.status({ viewer: { id: 'fox' } })).notices).toEqual([])
    const { findings } = await engine.doctor({})
    expect(findings).toContainEqual(expect.objectContaining({ check: 'notices', ok: true, message: notices[0] }))
    // The same day changes nothing.
    world.later(3600)
    await run(world)
    expect(rotten()).toBe(0)
    world.later(DAY)
    await run(world)
    expect(rotten()).toBe(25)
    expect((await engine.status()).notices).toEqual([])
  })

  it('CQ-151: lets fewer rot at once, as the check by hand does with any number', async () => {
    const few = new World()
    const nineteen = Array.from({ length: 19 }, (_, at) => few.node(`old${at}`))
    few.later(12 * DAY)
    await run(few)
    expect(few.memory(nineteen[0] as number)?.rotten).toBe(true)
    const many = new World()
    const all = Array.from({ length: 25 }, (_, at) => many.node(`old${at}`))
    many.later(12 * DAY)
    await runLifecycleCheck(many.context, OWNER, { now: many.now })
    expect(many.memory(all[0] as number)?.rotten).toBe(true)
  })

  it('goes on where it was ended', async () => {
    const world = new World()
    const keys = large(world)
    world.later(12 * DAY)
    const end = new AbortController()
    const [job] = memoryJobs(() => world.context)
    await job?.run(world.context.host, world.clock.now(), end.signal, () => end.abort(), held)
    expect([world.memory(keys[0] as number)?.version, world.memory(keys[2000] as number)]).toEqual([1, undefined])
    world.later(3600)
    await run(world)
    expect(lastCycle(world.store, OWNER)).toBe(START + 12 * DAY)
    expect(world.memory(keys[2000] as number)?.decay_health).toBeLessThan(1)
    // The check behind it may be cut off too.
    const other = new World()
    const rest = large(other)
    other.later(12 * DAY)
    const late = new AbortController()
    const untilDecayed = ({ phase, done }: Progress) => {
      if (phase === 'decay' && done === 2500) late.abort()
    }
    await memoryJobs(() => other.context)[0]?.run(
      other.context.host,
      other.clock.now(),
      late.signal,
      untilDecayed,
      held,
    )
    expect(other.memory(rest[1] as number)?.rotten).toBe(false)
    await run(other)
    // So many rot in the cycle after the notice.
    other.later(DAY)
    await run(other)
    expect(other.memory(rest[1] as number)?.rotten).toBe(true)
  })

  it('writes nothing more once another process has its lease, whatever the signal says', async () => {
    for (const writesBefore of [0, 1, 2, 3, 4]) {
      const world = new World()
      large(world)
      world.later(12 * DAY)
      let writes = 0
      const before = JSON.stringify(world.store.table(MEMORY).scan())
      let after = before
      const isLost = () => {
        if (writes++ < writesBefore) return
        if (writes === writesBefore + 1) after = JSON.stringify(world.store.table(MEMORY).scan())
        throw new QuerentError('cancelled', 'another process took over')
      }
      await run(world, undefined, isLost)
      expect(writes).toBeGreaterThan(writesBefore)
      expect(JSON.stringify(world.store.table(MEMORY).scan())).toBe(after)
      expect(after === before).toBe(writesBefore < 2)
      expect(lastCycle(world.store, OWNER)).toBe(0)
      // The next one does all of it.
      await run(world)
      expect(lastCycle(world.store, OWNER)).toBe(START + 12 * DAY)
    }
  })
})
