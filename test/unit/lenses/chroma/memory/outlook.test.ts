import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runDecayCycle, runLifecycleCheck } from '../../../../../src/lenses/chroma/memory/changes.ts'
import { forecast, statisticsOf } from '../../../../../src/lenses/chroma/nodes/points.ts'
import { MEMORY, USES } from '../../../../../src/lenses/chroma/tables.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { DAY, MODES_BY_TURN, START, World } from './world.ts'

describe('statistics (CQ-142)', () => {
  it('of nothing have no averages', () => {
    expect(statisticsOf(new World().context, OWNER)).toEqual({
      total_nodes: 0,
      permanent_nodes: 0,
      rotten_nodes: 0,
      decay_disabled: 0,
      mode_distribution: {},
      strength: { average: null, min: null, max: null },
      health: { average: null, min: null },
    })
  })

  it('count what the viewer sees, by the viewer’s own memory', () => {
    const world = new World()
    world.node('a', { strength_raw: 3, decay_health: 0.5 })
    world.node('b', { strength_raw: 30, ascension: true })
    world.node('c', { rotten: true, mode: 'Sparse', decay_enabled: false })
    world.node('d', { holder: 'fox' })
    expect(statisticsOf(world.context, OWNER)).toEqual({
      total_nodes: 4,
      permanent_nodes: 1,
      rotten_nodes: 1,
      decay_disabled: 1,
      mode_distribution: { Sparse: 1, Adaptive: 3 },
      strength: { average: 8.25, min: 0, max: 30 },
      health: { average: 0.875, min: 0.5 },
    })
    expect(statisticsOf(world.context, 'fox')).toMatchObject({
      total_nodes: 1,
      mode_distribution: { Adaptive: 1 },
      strength: { average: 0, min: 0, max: 0 },
    })
    expect(statisticsOf(world.context, 'dog').total_nodes).toBe(0)
  })
})

describe('a forecast (issue item: what will rot, ascend or fade, changing nothing)', () => {
  it('names what will happen and when', () => {
    const world = new World()
    const strong = world.node('strong', { strength_raw: 21, last_accessed: START })
    const idle = world.node('idle')
    const used = world.node('used', { strength_raw: 1, last_accessed: START })
    world.node('frozen', { decay_enabled: false })
    world.node('rotten', { rotten: true, last_accessed: START - 100 * DAY, created_at: 0 })
    const told = forecast(world.context, OWNER, { now: START, until: START + 30 * DAY })
    expect(told.totals).toEqual({ ascends: 1, rots: 2, fades: 0 })
    expect(told.items.map(({ entry, event }) => [entry, event])).toEqual([
      [strong, 'ascends'],
      [idle, 'rots'],
      [used, 'rots'],
    ])
    // Recency 0.03 is reached after 10.52 days.
    expect((told.items[1]?.at ?? 0) - START).toBe(Math.ceil(-3 * DAY * Math.log(0.03)))
    const soon = forecast(world.context, OWNER, { now: START, until: START + 10 * DAY })
    expect(soon.totals).toEqual({ ascends: 1, rots: 0, fades: 0 })
    const late = forecast(world.context, OWNER, { now: START, until: START + 200 * DAY, limit: 1 })
    // Adaptive health halves in 62.4 days; the rotten one is at 33 % already.
    expect([late.totals, late.items.length]).toEqual([{ ascends: 1, rots: 2, fades: 2 }, 1])
  })

  it('is about what the viewer sees, refuses the past, and says when memory is off', () => {
    const world = new World()
    world.node('a')
    world.node('b', { holder: 'fox' })
    const request = { now: START, until: START + 30 * DAY }
    expect(forecast(world.context, 'fox', request).totals.rots).toBe(1)
    expect(forecast(world.context, OWNER, request).totals.rots).toBe(2)
    expect(() => forecast(world.context, OWNER, { now: START, until: START - 1 })).toThrow(/until/)
    expect(() => forecast(world.context, OWNER, { ...request, limit: -1 })).toThrow(/limit/)
    const off = new World({ store: world.store, enabled: false })
    expect(forecast(off.context, OWNER, request)).toMatchObject({ skipped: 'memory_disabled', items: [] })
  })

  it('comes true, and changes nothing', async () => {
    const node = fc.record({
      strength_raw: fc.oneof(fc.double({ min: 0, max: 4, noNaN: true }), fc.double({ min: 15, max: 60, noNaN: true })),
      age: fc.nat(20),
      rotten: fc.boolean(),
      decay_enabled: fc.boolean(),
      mode: fc.constantFrom(...MODES_BY_TURN),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(node, { minLength: 1, maxLength: 12 }),
        fc.nat(60),
        fc.boolean(),
        async (nodes, days, decayEnabled) => {
          const world = new World({ decayEnabled })
          const keys = nodes.map(({ age, ...fields }, at) =>
            world.node(String(at), { ...fields, created_at: 0, last_accessed: START - age * DAY }),
          )
          const all = () => world.store.table(MEMORY).scan()
          const before = [all(), world.store.table(USES).scan()]
          const told = forecast(world.context, OWNER, { now: START, until: START + days * DAY })
          expect([all(), world.store.table(USES).scan()]).toEqual(before)
          const was = keys.map(key => world.memory(key))
          for (const step of [0, days]) {
            world.later(step * DAY)
            await runDecayCycle(world.context, OWNER, { now: world.now })
            await runLifecycleCheck(world.context, OWNER, { now: world.now })
          }
          const named = (event: string) => told.items.filter(item => item.event === event).map(({ entry }) => entry)
          const turned = (flag: 'ascension' | 'rotten') =>
            keys.filter((key, at) => world.memory(key)?.[flag] && !was[at]?.[flag])
          expect([...named('ascends')].sort((a, b) => a - b)).toEqual(turned('ascension'))
          expect([...named('rots')].sort((a, b) => a - b)).toEqual(turned('rotten'))
          for (const { entry, event, strength_norm } of told.items) {
            if (event !== 'rots') continue
            const { strength_raw } = world.memory(entry) ?? { strength_raw: -1 }
            expect(strength_norm).toBeCloseTo(strength_raw / (strength_raw + 5), 9)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
