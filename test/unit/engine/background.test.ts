/** Jobs keep their lease while they run and end when they lose it; snapshots are written while the engine is open. */

import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import { Background, type JobState } from '../../../src/engine/background/background.ts'
import { Lease } from '../../../src/engine/background/lease.ts'
import { IndexSet } from '../../../src/engine/index-set.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import type { Job, LensHost } from '../../../src/lenses/lens.ts'
import { LEASES } from '../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { draftOf } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const machineNow = () => Date.now()
/** Timers, and what waits for them. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

function open(jobs: readonly Job[], folder: string | null = null) {
  const store = openMemoryStore()
  const indexes = new IndexSet(store, folder, [openWordIndex()])
  const states = new Map<string, JobState>()
  const host = {} as LensHost
  const background = new Background({
    ...{ store, indexes, states, machineNow },
    clock: new SettableClock(1),
    embedding: null,
    jobs: jobs.map(job => ({ ...job, run: (...of) => job.run(host, ...of) })),
    holder: 'me',
  })
  return { store, states, background, other: new Lease(store, 'job:slow', 'other', machineNow) }
}

describe('a job', () => {
  /** Says nothing until told to end. */
  function slowJob() {
    const runs: { signal: AbortSignal; end: (error?: Error) => void }[] = []
    const job: Job = {
      name: 'slow',
      everyMs: 1_000,
      run: (_host, _now, signal, report) =>
        new Promise((resolve, reject) => {
          report({ phase: 'count', done: 1, total: 3 })
          runs.push({ signal, end: error => (error ? reject(error) : resolve()) })
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    }
    return { runs, job }
  }

  it('that is silent for minutes keeps its lease, and gives it back', async () => {
    const { runs, job } = slowJob()
    const { background, other, states } = open([job])
    await pass(120_000)
    expect([runs.length, runs[0]?.signal.aborted, await other.take()]).toEqual([1, false, false])
    expect(states.get('slow')).toEqual({ progress: { phase: 'count', done: 1, total: 3 }, failure: null })
    runs[0]?.end()
    await pass(0)
    expect(await other.take()).toBe(true)
    await background.close()
  })

  it('that lost its lease is aborted', async () => {
    const { runs, job } = slowJob()
    const { background, store, states } = open([job])
    await pass(3_000)
    store.write(1, writer => writer.table(LEASES).delete({ name: 'job:slow' }))
    expect(await new Lease(store, 'job:slow', 'other', machineNow).take()).toBe(true)
    await pass(5_000)
    expect(runs[0]?.signal.aborted).toBe(true)
    expect(states.get('slow')?.failure).toBe('another process took over job:slow')
    await background.close()
  })

  it('that fails says why until it works, and keeps no other one from running', async () => {
    const { runs, job } = slowJob()
    const ran = vi.fn(() => Promise.resolve())
    const { background, states } = open([job, { name: 'next', everyMs: 1_000, run: ran }])
    await pass(3_000)
    runs[0]?.end(new Error('no such moon'))
    await pass(0)
    expect(states.get('slow')?.failure).toBe('no such moon')
    expect(ran).toHaveBeenCalled()
    await pass(3_000)
    runs[1]?.end()
    await pass(0)
    expect(states.get('slow')?.failure).toBeNull()
    await background.close()
  })
})

it.each([
  ['back by a year', -365 * 86_400_000],
  ['forward by ten years', 3_650 * 86_400_000],
])('a clock of the machine that is set %s delays no job and no snapshot, and hastens none', async (_, jump) => {
  using folder = tempFolder()
  const ran = vi.fn(() => Promise.resolve())
  const { background, store } = open([{ name: 'hourly', everyMs: 60_000, run: ran }], folder.file('index'))
  store.write(1, writer => {
    for (let at = 0; at < 600; at++) writer.put(draftOf({ id: `n${at}`, content: 'fox' }), [])
  })
  await pass(20_000)
  expect(ran).toHaveBeenCalledTimes(1)
  vi.setSystemTime(Date.now() + jump)
  await pass(5_000)
  expect([ran.mock.calls.length, existsSync(folder.file('index/words.snapshot'))]).toEqual([1, false])
  await pass(60_000)
  expect([ran.mock.calls.length, existsSync(folder.file('index/words.snapshot'))]).toEqual([2, true])
  await background.close()
})

it('snapshots are written while the engine is open, when it is worth it', async () => {
  using folder = tempFolder()
  const { background, store } = open([], folder.file('index'))
  const put = (from: number, to: number) =>
    store.write(1, writer => {
      for (let at = from; at < to; at++) writer.put(draftOf({ id: `n${at}`, content: 'fox' }), [])
    })
  put(0, 400)
  await pass(60_000)
  expect(existsSync(folder.file('index/words.snapshot'))).toBe(false)
  put(400, 600)
  await pass(60_000)
  expect(existsSync(folder.file('index/words.snapshot'))).toBe(true)
  expect(await new Lease(store, 'snapshots', 'other', machineNow).take()).toBe(true)
  await background.close()
})
