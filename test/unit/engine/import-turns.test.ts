/** QE-019: an import reads and writes in turns of others, who see nothing of it before its end. */
import { expect, it, vi } from 'vitest'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

const ENTRIES = 400

async function exported(): Promise<readonly unknown[]> {
  await using source = await openTestEngine()
  const entries = Array.from({ length: ENTRIES }, (_, at) => ({ id: `e${at}`, content: `rain number ${at}` }))
  await source.put({ entries })
  const lines: unknown[] = []
  for await (const line of source.export()) lines.push(line)
  return lines
}

async function* each(lines: readonly unknown[]): AsyncGenerator<unknown> {
  yield* lines
}

it('QE-019: takes a turn for each line that it reads and each that it writes, all or nothing', async () => {
  const lines = await exported()
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path })
  await engine.put({ entries: [{ id: 'mine', content: 'rain of mine' }] })
  const seen = new Set<number>()
  const look = async () => seen.add((await engine.list({})).total)
  const { turns, result } = await turnsOf(() => engine.import(each(lines)), look)
  expect(result.entries).toBe(ENTRIES)
  expect(turns).toBeGreaterThanOrEqual(2 * ENTRIES)
  expect([...seen].filter(total => total !== 1 && total !== ENTRIES + 1)).toEqual([])
  expect((await engine.list({})).total).toBe(ENTRIES + 1)
})

it('QE-019: leaves nothing when its caller goes while it writes', async () => {
  const lines = await exported()
  using folder = tempFolder()
  await using engine = await openTestEngine({ home: folder.path })
  const going = new AbortController()
  const gone = turnsOf(
    () => engine.import(each(lines), { signal: going.signal }),
    turn => turn === ENTRIES + ENTRIES / 2 && going.abort(),
  )
  await expect(gone).rejects.toMatchObject({ code: 'cancelled' })
  expect((await engine.list({})).total).toBe(0)
  await engine.put({ entries: [{ content: 'and the next one writes' }] })
})
