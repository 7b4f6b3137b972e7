/** Pages of one answer from several processes on one store, and after a restart: nothing is held there for them. */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { Item, Page } from '../../../src/model/page.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { assertUntil } from '../../support/until-met.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 300 : 12
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

it(`goes on exactly or not at all, whoever writes what where (${RUNS} histories; 300 with QUERENT_LONG=1)`, async () => {
  const change = fc.record({
    id: fc.nat({ max: 90 }).map(at => `e${at}`),
    content: fc.constantFrom(...CONTENTS, null),
    by: fc.nat({ max: 1 }),
  })
  const changes = fc.oneof(fc.constant([]), fc.array(change, { maxLength: 6 }))
  const turns = fc.array(fc.record({ changes, in: fc.nat({ max: 2 }) }), { minLength: 4, maxLength: 12 })
  const questions = fc.constantFrom(
    { text: 'fox rain' },
    { text: 'fox', mode: 'words' as const },
    { text: 'fox dog', diversity: 0.8 },
    { text: 'fox rain', approximate: false },
    { text: 'fox', per_collection: 50 },
  )
  // Some go through it in a few pages, so that the end is met before what is written has ended them.
  const limits = fc.constantFrom(8, 30)
  const ends = { whole: 0, expired: 0 }
  await assertUntil(
    fc.asyncProperty(questions, limits, turns, async (question, limit, all) => {
      const file = folder.file(`${++stores}.db`)
      await filled(file)
      const clock = new SettableClock(TEST_NOW + 1)
      const engines = [await open(file, clock), await open(file, clock)]
      const input = { ...question, any: true, touch: false, limit }
      const whole = idsOf(await (engines[0] as Engine).query({ ...input, limit: 1000 }))
      const gone = new Set<string>()
      let at = 0
      let cursor: string | null = null
      let written = false
      for (const [turn, { changes: made, in: where }] of all.entries()) {
        for (const { id, content, by } of turn === 0 ? [] : made) {
          clock.set(clock.now() + 1)
          written = true
          const engine = engines[by] as Engine
          if (content !== null) await engine.put({ entries: [{ id, content }], wait: true })
          else
            await engine.delete({ ids: [id] }).then(
              () => gone.add(id),
              () => {},
            )
        }
        const asked: Engine = engines[where] ?? (await open(file, clock))
        const page: Page | null = await asked
          .query({ ...input, ...(cursor === null ? {} : { cursor }) })
          .catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'cursor_expired' })
            return null
          })
        if (where === 2) await asked.close()
        if (page === null) {
          expect(written).toBe(true)
          ends.expired++
          break
        }
        for (const id of idsOf(page)) {
          while (gone.has(whole[at] as string)) at++
          expect(id).toBe(whole[at++])
        }
        cursor = page.cursor
        if (cursor === null) {
          expect(whole.slice(at).filter(id => !gone.has(id))).toEqual([])
          ends.whole++
          break
        }
      }
      for (const engine of engines) await engine.close()
    }),
    { numRuns: RUNS },
    () => expect(Math.min(ends.whole, ends.expired)).toBeGreaterThan(0),
  )
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

it('goes on elsewhere when the past is asked: what counts is what was written since the first page', async () => {
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
  const third = two.query({ ...input, cursor: first.cursor as string })
  await expect(third).rejects.toMatchObject({ code: 'cursor_expired' })
  for (const engine of [one, two]) await engine.close()
})
