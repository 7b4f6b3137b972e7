/** While another process holds the write lock, this one goes on serving: writers wait on timers, not in SQLite. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DatabaseError } from '../../src/lenses/chroma/errors.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { openTestEngine } from '../support/engines.ts'
import { openWorld } from '../support/open-chroma-world.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'

/** Far more than a wait inside SQLite would leave: it would leave none. */
const TURNS = 30
/** Longer than the test may take: a write that gives up gave up for another reason. */
const NEVER_MS = 600_000

let folder: TempFolder
let file: string
beforeEach(() => {
  folder = tempFolder()
  file = folder.file('store.db')
  openSqliteStore({ file }).close()
})
afterEach(() => folder[Symbol.dispose]())

async function locked(): Promise<Child> {
  const child = new Child('store-child.ts', import.meta.url, ['hold-lock', file])
  await child.says('holding')
  return child
}

/** Turns of the event loop until `work` settles. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  work.then(settle, settle)
  while (!isSettled) {
    await new Promise(resolve => setImmediate(resolve))
    turns++
  }
  return turns
}

it('QE-019: reads are answered while writes wait, and the writes succeed in order when the lock goes', async () => {
  const engine = await openTestEngine({ store: openSqliteStore({ file, timeoutMs: NEVER_MS }) })
  await engine.put({ entries: [{ id: 'fox', content: 'The quick fox' }] })
  await using child = await locked()
  const done: string[] = []
  const writes = ['one', 'two'].map(async content => {
    await engine.put({ entries: [{ id: 'same', content }] })
    done.push(content)
  })
  for (let turn = 0; turn < TURNS; turn++) {
    expect((await engine.query({ text: 'quick fox' })).items.map(({ id }) => id)).toEqual(['fox'])
    expect((await engine.get({ id: 'fox' })).content).toBe('The quick fox')
  }
  expect(done).toEqual([])
  child.tell('release')
  await Promise.all(writes)
  expect(done).toEqual(['one', 'two'])
  expect((await engine.get({ id: 'same' })).content).toBe('two')
  await engine.close()
})

it('QE-019: a write that waits in vain is `store_locked`, changes nothing, and does not stop the thread', async () => {
  const store = openSqliteStore({ file, timeoutMs: 300 })
  await using child = await locked()
  let runs = 0
  const write = () =>
    store.writeWhenFree(1, writer => {
      runs++
      writer.setMeta('a', 'b')
    })
  const failed = write()
  const behind = write()
  expect(await turnsDuring(Promise.allSettled([failed, behind]))).toBeGreaterThan(TURNS)
  for (const one of [failed, behind]) await expect(one).rejects.toMatchObject({ code: 'store_locked', retryable: true })
  expect([runs, store.meta('a')]).toEqual([0, undefined])
  child.tell('release')
  await child.says('released')
  await write()
  expect([runs, store.meta('a')]).toEqual([1, 'b'])
  const refused = store.writeWhenFree(1, writer => {
    writer.setMeta('a', 'c')
    throw new QuerentError('store_locked', 'thrown by the body')
  })
  await expect(refused).rejects.toThrow('thrown by the body')
  expect(store.meta('a'), 'the body is not run again').toBe('b')
  store.close()
})

it('CQ-106: a node is tried five times without stopping the thread, and reads go on', async () => {
  await using world = await openWorld({ store: undefined, home: folder.path, sleep: ms => sleep(ms) })
  const id = await world.node()
  await using child = await locked()
  const stored = world.node().catch((error: unknown) => error)
  const turns = turnsDuring(stored)
  expect(await world.chroma.getNode(id)).toMatchObject({ entry_id: id })
  expect((await world.chroma.getStatistics()).total_nodes).toBe(1)
  const error = await stored
  expect(error).toBeInstanceOf(DatabaseError)
  expect(error).toMatchObject({ retryable: true, details: { retryable: true, attempts: 5 } })
  expect(await turns).toBeGreaterThan(TURNS)
  child.tell('release')
  await child.says('released')
  expect(await world.node()).toBeTypeOf('string')
})
