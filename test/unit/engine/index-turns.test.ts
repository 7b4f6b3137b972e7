/** QE-019: indexes are read, built and followed in pauses for others; whoever needs one waits for it, and no query is wrong by it. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import { idsOf, openTestEngine } from '../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

/** Each of some hundred characters; READ_AT_ONCE of the word index counts 512 more for each. */
const ENTRIES = 1_500
/** Steps of reading alone: of splitting, sorting and writing there are more. */
const PAGES = Math.floor((ENTRIES * 512) / (1 << 17))
const QUERY = { text: 'rain', mode: 'words', limit: 100 } as const

/** A home with the entries, of which each test has a copy. */
const filled = tempFolder()
let folder: TempFolder
let engine: Engine
const reopen = async (has: 'snapshots' | 'none') => {
  await engine.close()
  if (has === 'none') rmSync(join(folder.path, 'index'), { recursive: true, force: true })
  engine = await openTestEngine({ home: folder.path })
}
beforeAll(async () => {
  await using first = await openTestEngine({ home: filled.path })
  const contentOf = (at: number) =>
    `${at % 20 === 0 ? 'rain' : 'sun'} number ${at} ${'and more words of it '.repeat(5)}`
  await first.put({ entries: Array.from({ length: ENTRIES }, (_, at) => ({ id: `e${at}`, content: contentOf(at) })) })
})
afterAll(() => filled[Symbol.dispose]())
beforeEach(async () => {
  folder = tempFolder()
  cpSync(filled.path, folder.path, { recursive: true })
  engine = await openTestEngine({ home: folder.path })
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

describe('an index without a snapshot', () => {
  it('QE-019: is built in many turns, once for all who come meanwhile, and answers as one read from its snapshot', async () => {
    await engine.query(QUERY)
    await reopen('snapshots')
    const expected = await engine.query(QUERY)
    await reopen('none')
    const alone = await turnsOf(() => engine.query(QUERY))
    expect(idsOf(alone.result)).toEqual(idsOf(expected))
    await reopen('none')
    const several = await turnsOf(() => Promise.all([engine.query(QUERY), engine.query(QUERY), engine.query(QUERY)]))
    for (const page of several.result) expect(idsOf(page)).toEqual(idsOf(expected))
    const loaded = await turnsOf(() => engine.query(QUERY))
    // A query takes turns of its own as well.
    const built = alone.turns - loaded.turns
    expect(built).toBeGreaterThan(PAGES)
    expect(several.turns).toBeLessThan(2 * built + 3 * loaded.turns)
  })

  it('QE-019: has in the end what is written, changed and deleted at its pauses', async () => {
    await reopen('none')
    const writes = [
      () => engine.put({ entries: [{ id: 'late', content: 'rain rain rain' }] }),
      () =>
        engine.put({
          entries: [
            { id: 'e1', content: 'now rain' },
            { id: 'e20', content: 'now sun' },
          ],
        }),
      () => engine.delete({ ids: ['e40', `e${ENTRIES - 20}`] }),
    ]
    const { result } = await turnsOf(
      () => engine.query(QUERY),
      turn => writes[turn - 2]?.(),
    )
    const found = idsOf(result)
    expect(found).toEqual(expect.arrayContaining(['late', 'e1', 'e0']))
    for (const id of ['e20', 'e40', `e${ENTRIES - 20}`]) expect(found).not.toContain(id)
    await reopen('none')
    expect(idsOf(await engine.query(QUERY)).toSorted()).toEqual(found.toSorted())
  })

  it('QE-019: goes on for the others when one that waits for it ends, and is whole for who cannot wait', async () => {
    await reopen('none')
    const going = new AbortController()
    const { result } = await turnsOf(
      () => Promise.allSettled([engine.query(QUERY, { signal: going.signal }), engine.query(QUERY)]),
      turn => {
        if (turn === 2) going.abort()
        if (turn === 3) expect(engine.host('default').index('words').position).toBeGreaterThan(0)
      },
    )
    expect(result[0]).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } })
    expect(result[1].status === 'fulfilled' && idsOf(result[1].value)).toHaveLength(ENTRIES / 20)
  })
})

it('QE-019: what many writes left behind is taken in by many turns before a query', async () => {
  await engine.query(QUERY)
  const entries = Array.from({ length: ENTRIES / 2 }, (_, at) => ({ id: `n${at}`, content: `snow ${at}` }))
  await engine.put({ entries })
  const { turns, result } = await turnsOf(() => engine.query({ text: 'snow', mode: 'words', limit: 10 }))
  expect(turns).toBeGreaterThan(Math.floor(((ENTRIES / 2) * 512) / (1 << 17)) + 1)
  expect(idsOf(result)).toHaveLength(10)
})

it('QE-019: what many changes left behind is taken in by many turns before a query, and none of the old words is found', async () => {
  await engine.query(QUERY)
  const changed = ENTRIES / 2
  const entries = Array.from({ length: changed }, (_, at) => ({ id: `e${at}`, content: `snow ${at}` }))
  await engine.put({ entries })
  const { turns, result } = await turnsOf(() => engine.query(QUERY))
  expect(turns).toBeGreaterThan(Math.floor((changed * 512) / (1 << 17)) + 1)
  expect(idsOf(result)).toHaveLength((ENTRIES - changed) / 20 - 0.5)
  expect(idsOf(await engine.query({ text: 'snow', mode: 'words', limit: 10 }))).toHaveLength(10)
})

it('QE-019: the orders of earlier answers are made whole in a turn each before an index changes, and are gone on in', async () => {
  const ORDERS = 60
  const cursors: string[] = []
  // The first answer with a cursor writes the secret that seals cursors, and every write makes orders whole.
  await engine.query({ text: 'rain', mode: 'words', limit: 5 })
  for (let at = 0; at < ORDERS; at++) {
    const { cursor } = await engine.query({ text: `rain number ${at}`, mode: 'words', limit: 5 })
    cursors.push(cursor as string)
  }
  const still = await turnsOf(() => engine.query({ text: 'rain', mode: 'words', limit: 5 }))
  await engine.put({ entries: [{ id: 'late', content: 'rain number rain number' }] })
  const { turns, result } = await turnsOf(() => engine.query({ text: 'rain', mode: 'words', limit: 5 }))
  expect(turns).toBeGreaterThanOrEqual(still.turns + ORDERS)
  expect(idsOf(result)).toContain('late')
  for (const at of [0, ORDERS - 1]) {
    const next = await engine.query({ text: `rain number ${at}`, mode: 'words', limit: 5, cursor: cursors[at] })
    expect(idsOf(next).length).toBeGreaterThan(0)
    expect(idsOf(next)).not.toContain('late')
  }
})
