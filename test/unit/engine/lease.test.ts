import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isGone, Lease, nameHolder } from '../../../src/engine/background/lease.ts'
import { LEASES } from '../../../src/store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const dead = `${hostname()}/${spawnSync(process.execPath, ['--version']).pid}/x`
const TERM_MS = 15_000

describe('a holder', () => {
  it('is gone when its process is', () => {
    expect(isGone(nameHolder('x'))).toBe(false)
    expect(isGone(dead)).toBe(true)
  })

  it('of another machine or of unknown kind may live', () => {
    expect(isGone(`elsewhere/${dead.split('/')[1]}/x`)).toBe(false)
    for (const holder of ['me', '', '1/2', 'a/b/c']) expect(isGone(holder)).toBe(false)
  })

  it('that belongs to another user may live', () => {
    expect(isGone(`${hostname()}/1/x`)).toBe(false)
  })
})

/** Leases of one store, all on the same clocks: that of the machine, which may jump, and one that nobody sets. */
function openWorld() {
  const time = { machine: 1_000_000, elapsed: 0 }
  const store = openMemoryStore()
  const lease = (holder: string, { name = 'work', ahead = 0 } = {}) =>
    new Lease(
      store,
      name,
      holder,
      () => time.machine + ahead,
      () => time.elapsed,
    )
  const pass = (ms: number) => {
    time.machine += ms
    time.elapsed += ms
  }
  return { time, store, lease, pass }
}

describe('a lease', () => {
  it('is waited for until nobody else has it, and whoever waits is notified once', async () => {
    const { lease } = openWorld()
    const [a, b] = [lease('a'), lease('b')]
    await a.take()
    let notified = 0
    const waiting = b.waitFor(new AbortController().signal, () => {
      notified++
      setTimeout(() => void a.release(), 100)
    })
    await waiting
    expect([notified, await a.take(), await b.take()]).toEqual([1, false, true])
  })

  it('is waited for no longer than the signal lets it', async () => {
    const { lease } = openWorld()
    const [a, b] = [lease('a'), lease('b')]
    await a.take()
    const stop = new AbortController()
    const waiting = b.waitFor(stop.signal, () => stop.abort())
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    await a.release()
    await expect(b.waitFor(stop.signal)).rejects.toMatchObject({ code: 'cancelled' })
    expect(await a.take()).toBe(true)
  })

  it('is one’s until it is given back', async () => {
    const { lease } = openWorld()
    const [a, b] = [lease('a'), lease('b')]
    expect([await a.take(), await a.take(), await b.take()]).toEqual([true, true, false])
    expect(await lease('b', { name: 'other work' }).take()).toBe(true)
    await b.release()
    expect(await b.take()).toBe(false)
    await a.release()
    expect(await b.take()).toBe(true)
  })

  it('ends with its term unless it is renewed', async () => {
    const { lease, pass } = openWorld()
    const [a, b, c] = [lease('a'), lease('b'), lease('c')]
    await a.take()
    pass(14_000)
    expect(await a.take()).toBe(true)
    pass(14_999)
    expect(await b.take()).toBe(false)
    pass(1)
    expect([await c.take(), await b.take(), await a.take()]).toEqual([true, false, false])
  })

  it('of a process that died is taken at once', async () => {
    const { lease } = openWorld()
    expect(await lease(dead).take()).toBe(true)
    expect(await lease('d').take()).toBe(true)
  })

  it('that was taken while its holder was stopped cannot be written under, also when it was given back since', async () => {
    const { store, lease, pass } = openWorld()
    const [stopped, other] = [lease('a'), lease('b')]
    const writes = (one: Lease) => () => store.write(1, one.requireHeld)
    expect(writes(stopped)).toThrow('another process took over work')
    await stopped.take()
    expect(writes(stopped)).not.toThrow()
    pass(TERM_MS)
    expect(writes(stopped), 'nobody has taken it yet').not.toThrow()
    await other.take()
    expect(writes(stopped)).toThrow('another process took over work')
    await other.release()
    expect(writes(stopped)).toThrow('another process took over work')
    await stopped.release()
    await lease('a').take()
    expect(writes(stopped), 'another turn of the same process').toThrow('another process took over work')
  })

  it('of one whose clock is ahead, or from before the clock was put back, blocks for one term of one’s own', async () => {
    const { time, lease, pass } = openWorld()
    await lease('a', { ahead: 3_600_000 }).take()
    const b = lease('b')
    expect(await b.take()).toBe(false)
    pass(TERM_MS - 1)
    expect(await b.take()).toBe(false)
    pass(1)
    expect(await b.take()).toBe(true)
    time.machine -= 7_200_000
    const c = lease('c')
    expect(await c.take()).toBe(false)
    pass(TERM_MS / 2)
    await b.take()
    expect(await c.take(), 'it was renewed').toBe(false)
    pass(TERM_MS - 1)
    expect(await c.take()).toBe(false)
    pass(1)
    expect(await c.take()).toBe(true)
  })

  it('that others hold is looked at without waiting for writers', async () => {
    const { store, lease } = openWorld()
    const [a, b] = [lease('a'), lease('b')]
    await a.take()
    const write = vi.spyOn(store, 'writeWhenFree')
    expect(await b.take()).toBe(false)
    expect(write).not.toHaveBeenCalled()
  })
})

describe('while it works', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it.each(['taken', 'taken and given back'])('a holder hears that its lease was %s', async what => {
    const store = openMemoryStore()
    const now = { ahead: 0 }
    const mine = new Lease(store, 'work', 'a', () => Date.now())
    const other = new Lease(store, 'work', 'b', () => Date.now() + now.ahead)
    await mine.take()
    const heard = mine.during(new AbortController().signal, async signal => {
      now.ahead = TERM_MS
      expect(await other.take()).toBe(true)
      if (what !== 'taken') await other.release()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const outcome = expect(heard).rejects.toThrow('another process took over work')
    await vi.advanceTimersByTimeAsync(5_000)
    await outcome
  })
})

type Step = readonly ['take' | 'write' | 'release', number] | readonly ['pass' | 'jump', number]

const HOLDERS = 4
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('take' as const), fc.nat(HOLDERS - 1)) },
  { weight: 5, arbitrary: fc.tuple(fc.constant('write' as const), fc.nat(HOLDERS - 1)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('release' as const), fc.nat(HOLDERS - 1)) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('pass' as const), fc.constantFrom(1, 4_000, 14_999, TERM_MS)) },
)
const jump: fc.Arbitrary<Step> = fc.tuple(fc.constant('jump' as const), fc.constantFrom(-3_600_000, -1, 1, 3_600_000))
const LENGTH = { minLength: 10, maxLength: 60, size: 'max' } as const
const skews = fc.tuple(...Array.from({ length: HOLDERS }, () => fc.constantFrom(0, 0, -60_000, 60_000)))

const LONG = process.env['QUERENT_LONG'] === '1'

describe.each(['memory', 'SQLite'])('whatever several holders do (QUERENT_LONG=1: ten times as often), in %s', kind => {
  const timeout = LONG ? 900_000 : 600_000
  const numRuns = (LONG ? 10 : 1) * (kind === 'memory' ? 100 : 15)

  it('on one clock no two of them have it at once', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, LENGTH), async steps => {
        using world = openHolders(kind, [0, 0, 0, 0])
        for (const one of steps) {
          await world.take(one)
          expect(world.believing().length).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns },
    )
  })

  it('on clocks that differ and jump nobody writes between two writes of one turn, and it never stays blocked', {
    timeout,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 8, arbitrary: step }, jump), LENGTH),
        skews,
        async (steps, ahead) => {
          using world = openHolders(kind, ahead)
          for (const one of steps) await world.take(one)
          const turns = world.writes.filter((turn, at) => turn !== world.writes[at - 1])
          expect(new Set(turns).size).toBe(turns.length)
          // All are stopped but one, which looks twice.
          await world.take(['take', 0])
          await world.take(['pass', TERM_MS])
          expect(await world.take(['take', 0])).toBe(true)
        },
      ),
      { numRuns },
    )
  })
})

/** `ahead`: by how much each holder's clock is. In SQLite each has a connection of its own. */
function openHolders(kind: string, ahead: readonly number[]) {
  const folder = tempFolder()
  const time = { machine: 1e9, elapsed: 0 }
  const shared = kind === 'memory' ? openMemoryStore() : null
  const stores: Store[] = ahead.map(() => shared ?? openSqliteStore({ file: folder.file('store.db') }))
  const leases = stores.map((store, at) => {
    const machineNow = () => time.machine + (ahead[at] as number)
    return new Lease(store, 'work', `holder ${at}`, machineNow, () => time.elapsed)
  })
  /** Until when each may think that it has the lease, by the clock that nobody sets. */
  const until = leases.map(() => 0)
  const writes: string[] = []
  const write = (at: number) => {
    const [store, lease] = [stores[at] as Store, leases[at] as Lease]
    try {
      store.write(1, writer => {
        lease.requireHeld(writer)
        writes.push(String(writer.table(LEASES).get({ name: 'work' })?.['holder']))
      })
    } catch (error) {
      expect(error).toMatchObject({ code: 'cancelled' })
    }
  }
  const take = async ([what, value]: Step): Promise<boolean> => {
    if (what === 'pass' || what === 'jump') {
      time.machine += value
      if (what === 'pass') time.elapsed += value
      return true
    }
    if (what === 'write') write(value)
    else if (what === 'release') {
      await leases[value]?.release()
      until[value] = 0
    } else {
      const has = (await leases[value]?.take()) === true
      until[value] = has ? time.elapsed + TERM_MS : 0
      return has
    }
    return true
  }
  return {
    take,
    writes,
    believing: () => until.filter(end => end > time.elapsed),
    [Symbol.dispose]: () => {
      for (const store of new Set(stores)) store.close()
      folder[Symbol.dispose]()
    },
  }
}
