import { describe, expect, it } from 'vitest'
import { lastCycle } from '../../../../../src/lenses/chroma/memory/cycle-state.ts'
import { memoryJobs } from '../../../../../src/lenses/chroma/memory/jobs.ts'
import { MEMORY } from '../../../../../src/lenses/chroma/tables.ts'
import type { MustHold } from '../../../../../src/lenses/lens.ts'
import { QuerentError } from '../../../../../src/model/errors.ts'
import type { Progress } from '../../../../../src/model/operation.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { DAY, large, START, World } from './world.ts'

describe('the daily job', () => {
  const held = () => undefined
  const run = async (world: World, signal = new AbortController().signal, mustHold: MustHold = held) => {
    const told: Progress[] = []
    const [job] = memoryJobs(() => world.context)
    await job?.run(world.context.host, world.clock.now(), signal, progress => told.push(progress), mustHold)
    return told
  }

  it('decays and checks once a day, for the owner and for all who used something', async () => {
    const world = new World()
    const own = world.node('own', { holder: 'fox' })
    const a = world.node('a')
    world.record([own], START, 'fox')
    world.later(11 * DAY)
    const told = await run(world)
    expect(told.map(({ current, phase }) => `${current} ${phase}`)).toEqual([
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
