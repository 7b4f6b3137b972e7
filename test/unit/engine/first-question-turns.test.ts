/** QE-019: what a process reads for its first question is read in pauses for others, once for all who come meanwhile. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import { idsOf, openTestEngine } from '../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

const ENTRIES = 2_500
const PAGES = ENTRIES / 500
const QUESTION = { text: 'rain', limit: 100 }

let folder: TempFolder
let engine: Engine
beforeEach(async () => {
  folder = tempFolder()
  const writing = await openTestEngine({ home: folder.path })
  await writing.put({
    entries: Array.from({ length: ENTRIES }, (_, at) => ({
      id: `e${at}`,
      content: at % 50 === 0 ? `rain ${at}` : `sun ${at}`,
      valid_until: at % 100 === 0 ? '2026-01-01T00:00:00Z' : '2030-01-01T00:00:00Z',
    })),
  })
  await writing.close()
  engine = await openTestEngine({ home: folder.path })
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

it('QE-019: the first question takes a turn for every 500 entries with bounds, and answers as the second', async () => {
  const first = await turnsOf(() => engine.query(QUESTION))
  const second = await turnsOf(() => engine.query(QUESTION))
  expect(first.turns).toBeGreaterThanOrEqual(second.turns + PAGES)
  expect(first.result).toEqual(second.result)
  expect(idsOf(first.result)).toHaveLength(ENTRIES / 100)
})

it('QE-019: those who ask while it is read share the reading, also when one of them goes; what is written meanwhile is found', async () => {
  const alone = await turnsOf(() => engine.query(QUESTION))
  await engine.close()
  engine = await openTestEngine({ home: folder.path })
  const going = new AbortController()
  const { turns, result } = await turnsOf(
    () =>
      Promise.allSettled([
        engine.query(QUESTION, { signal: going.signal }),
        engine.query(QUESTION),
        engine.explain({ query: QUESTION, id: 'e50' }),
      ]),
    async turn => {
      if (turn !== 2) return
      await engine.put({ entries: [{ id: 'late', content: 'rain rain' }] })
      going.abort()
    },
  )
  const [gone, answer, explained] = result
  expect(gone).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } })
  expect(explained.status).toBe('fulfilled')
  expect(answer.status === 'fulfilled' && idsOf(answer.value).toSorted()).toEqual(
    [...idsOf(alone.result), 'late'].toSorted(),
  )
  expect(turns).toBeGreaterThanOrEqual(PAGES)
})

it('QE-019: the first status takes a turn for each index that it loads, and says what the second says', async () => {
  const first = await turnsOf(() => engine.status())
  expect(first.turns).toBeGreaterThanOrEqual(first.result.indexes.length - 1)
  expect(first.result.indexes.length).toBeGreaterThan(1)
  expect(await engine.status()).toEqual(first.result)
})

it('QE-019: a status says what was written while it was loading, and ends with its caller', async () => {
  const { result } = await turnsOf(
    () => engine.status(),
    turn => turn === 1 && engine.put({ entries: [{ id: 'late', content: 'rain' }] }),
  )
  expect(result.entries).toBe(ENTRIES + 1)
  expect(result.indexes.find(({ name }) => name === 'words')?.rows).toBe(ENTRIES + 1)
  await engine.close()
  engine = await openTestEngine({ home: folder.path })
  const going = new AbortController()
  const asked = turnsOf(
    () => engine.status({ signal: going.signal }),
    () => going.abort(),
  )
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
})
