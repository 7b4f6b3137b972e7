/** Pages of one answer from several processes on one store, and after a restart. */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { Item } from '../../../src/model/page.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let stores = 0

const CONTENTS = ['fox', 'fox rain', 'fox dog', 'fox vixen car', 'fox fox garden', 'rain rain fox dog']

function open(file: string, clock = new SettableClock(TEST_NOW)): Promise<Engine> {
  return openTestEngine({ store: openSqliteStore({ file }), embedder: openToyEmbedder(), clock })
}

async function filled(file: string): Promise<void> {
  const engine = await open(file)
  const entries = Array.from({ length: 70 }, (_, at) => ({ id: `e${at}`, content: CONTENTS[at % 6] as string }))
  await engine.put({ entries, wait: true })
  await engine.close()
}

const shown = (items: readonly Item[]) => items.map(({ id, score, rank }) => [id, score, rank])

it.each([
  { text: 'fox rain' },
  { text: 'fox', mode: 'words' as const },
  { text: 'collection:notes' },
  { text: 'fox dog', diversity: 0.8 },
  { text: 'fox rain', approximate: false },
])('goes on in any process as if it were one, where nobody writes: $text $mode $diversity', async question => {
  const file = folder.file(`${++stores}.db`)
  await filled(file)
  const engines = [await open(file), await open(file)] as const
  const input = { ...question, any: true, touch: false }
  const whole = await engines[0].query({ ...input, limit: 1000 })
  const items: Item[] = []
  let cursor: string | null = null
  for (let page = 0; page === 0 || cursor !== null; page++) {
    const asked: Engine = page % 3 === 2 ? await open(file) : (engines[page % 2] as Engine)
    const answer = await asked.query({ ...input, limit: 9, ...(cursor === null ? {} : { cursor }) })
    items.push(...answer.items)
    cursor = answer.cursor
    if (page % 3 === 2) await asked.close()
  }
  expect(shown(items)).toEqual(shown(whole.items))
  for (const engine of engines) await engine.close()
})

it.each([{ text: 'fox rain' }, { text: 'fox', mode: 'words' as const }])(
  'goes on as if nothing had been used since the first page: $text',
  async question => {
    const file = folder.file(`${++stores}.db`)
    await filled(file)
    const clock = new SettableClock(TEST_NOW + 1)
    const [one, two, three] = [await open(file, clock), await open(file, clock), await open(file, clock)]
    const input = { ...question, any: true }
    const whole = idsOf(await one.query({ ...input, touch: false, limit: 24 }))
    const first = await one.query({ ...input, limit: 8 })
    const next = { ...input, limit: 8, cursor: first.cursor as string }
    for (const asked of [one, two, two, three]) {
      clock.set(clock.now() + 1)
      // Use of what is still to come: by another question, and by the next page itself.
      await one.query({ ...input, limit: 12 })
      expect([...idsOf(first), ...idsOf(await asked.query(next))]).toEqual(whole.slice(0, 16))
    }
    for (const engine of [one, two, three]) await engine.close()
  },
)

it('goes on elsewhere without what came after the first page, also when the past is asked', async () => {
  const file = folder.file(`${++stores}.db`)
  await filled(file)
  const clock = new SettableClock(TEST_NOW + 10)
  const [one, two] = [await open(file, clock), await open(file, clock)]
  const input = { text: 'fox rain', as_of: new Date(TEST_NOW - 1).toISOString(), touch: false, limit: 8 }
  const whole = idsOf(await one.query({ ...input, limit: 16 }))
  const first = await one.query(input)
  const second = await two.query({ ...input, cursor: first.cursor as string })
  expect([...idsOf(first), ...idsOf(second)]).toEqual(whole)
  clock.set(TEST_NOW + 11)
  await one.put({ entries: [{ id: 'new', content: 'fox rain' }], wait: true })
  const third = idsOf(await two.query({ ...input, cursor: first.cursor as string }))
  expect([...idsOf(first), 'new'].filter(id => third.includes(id))).toEqual([])
  expect(third).toHaveLength(8)
  for (const engine of [one, two]) await engine.close()
})

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 25
const act = fc.record({
  does: fc.constantFrom('put' as const, 'delete' as const),
  at: fc.nat({ max: 79 }),
  content: fc.constantFrom(...CONTENTS),
})

it(`shows nothing twice, and nothing that was written after the first page (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, async () => {
  const asks = fc.constantFrom<object>({}, { mode: 'words' }, { diversity: 0.8 }, { text: 'collection:notes' })
  let written = 0
  const property = fc.asyncProperty(
    asks,
    fc.integer({ min: 1, max: 12 }),
    fc.array(fc.array(act, { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
    async (ask, limit, between) => {
      const clock = new SettableClock(TEST_NOW)
      const engine = await openTestEngine({ store: 'memory', embedder: openToyEmbedder(), clock })
      const entries = Array.from({ length: 70 }, (_, at) => ({ id: `e${at}`, content: CONTENTS[at % 6] as string }))
      await engine.put({ entries, wait: true })
      const input = { text: 'fox rain', any: true, touch: false, limit, ...ask }
      const shown: string[] = []
      const touched = new Set<string>()
      let page = await engine.query(input)
      for (const acts of between) {
        expect(idsOf(page).filter(id => shown.includes(id) || touched.has(id))).toEqual([])
        shown.push(...idsOf(page))
        if (page.cursor === null) break
        clock.set(clock.now() + 1)
        for (const { does, at, content } of acts) {
          const id = `e${at}`
          const isThere = await engine.get({ id, touch: false }).then(Boolean, () => false)
          if (does === 'put') await engine.put({ entries: [{ id, content: `${content} ${written++}` }], wait: true })
          else if (isThere) await engine.delete({ ids: [id] })
          touched.add(id)
        }
        page = await engine.query({ ...input, cursor: page.cursor })
      }
      await engine.close()
    },
  )
  await fc.assert(property, { numRuns: RUNS })
  expect(written).toBeGreaterThan(RUNS)
}, 600_000)
