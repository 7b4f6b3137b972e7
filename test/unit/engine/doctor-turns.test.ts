/** QE-019: the doctor examines in turns of others, who write meanwhile; what it finds is of one moment all the same. */
import { expect, it, vi } from 'vitest'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

const ENTRIES = 1_500

it('QE-019: reads, rebuilds and compares in turns, while others write, change and delete', async () => {
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path, embedder: openToyEmbedder() })
  const entries = Array.from({ length: ENTRIES }, (_, at) => ({
    id: `e${at}`,
    content: `rain number ${at} and more words`,
  }))
  await engine.put({ entries, wait: true })
  const writing: Promise<unknown>[] = []
  const write = (turn: number) => {
    if (turn % 5 !== 0 || turn > 200) return
    writing.push(engine.put({ entries: [{ id: `late${turn}`, content: `rain ${turn}` }], wait: true }))
    writing.push(engine.put({ entries: [{ id: `e${turn}`, content: `changed to ${turn}` }], wait: true }))
    writing.push(engine.delete({ ids: [`e${turn + 1}`] }))
  }
  const { turns, result } = await turnsOf(() => engine.doctor(), write)
  await Promise.all(writing)
  expect(writing.length).toBeGreaterThan(30)
  const wrong = result.findings.filter(({ ok, check }) => !ok && check !== 'vectors')
  expect(wrong).toEqual([])
  const words = result.findings.find(({ check }) => check === 'index words')
  expect(words?.message).toMatch(/^\d+ rows, the same as a rebuild$/)
  // Reading the entries for the index of words, in steps.
  expect(turns).toBeGreaterThan((ENTRIES * 512) / (1 << 17))
  expect((await engine.doctor()).ok).toBe(true)
})

it('QE-019: ends at a pause when its caller goes', async () => {
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path })
  await engine.put({ entries: [{ id: 'a', content: 'rain' }] })
  const going = new AbortController()
  const gone = turnsOf(
    () => engine.doctor({}, { signal: going.signal }),
    turn => turn === 2 && going.abort(),
  )
  await expect(gone).rejects.toMatchObject({ code: 'cancelled' })
})
