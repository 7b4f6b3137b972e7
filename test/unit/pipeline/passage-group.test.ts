/** Passages as results (QE-008): `group: passage` ranks each passage by its own score, with pages, reasons and access as entries. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import type { Item } from '../../../src/model/page.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { sentences } from '../../support/ask-arbitraries.ts'
import { type AskWorld, WORLD_NOW } from '../../support/ask-world.ts'
import { openWordsWorld, openWorld, putLines } from './world.ts'

const MANUAL = ['tulip garden rain', 'a fox and a dog jump', 'the fox sleeps in the garden', 'a car on the road']

const documents = fc.array(fc.array(sentences(), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 })
const asked = fc.record({
  text: fc.oneof({ weight: 5, arbitrary: sentences() }, { weight: 1, arbitrary: fc.constant('kind:note') }),
  mode: fc.constantFrom('hybrid', 'words', 'meaning'),
  approximate: fc.boolean(),
  diversity: fc.constantFrom(1, 1, 0.5),
})

const named = ({ id, passage }: Item): string => `${id} ${passage}`
const input = (question: QueryInput): QueryInput => ({ any: true, group: 'passage', ...question })

async function worldOf(all: readonly (readonly string[])[], embedded = all.length): Promise<AskWorld> {
  const world = openWorld()
  for (const [at, texts] of all.slice(0, embedded).entries()) putLines(world, `e${at}`, texts)
  await world.embedAll()
  for (const [at, texts] of all.slice(embedded).entries()) putLines(world, `e${at + embedded}`, texts)
  return world
}

/** The first item of each entry, in order. */
function firstOfEach(items: readonly Item[]): readonly Item[] {
  return items.filter(({ id }, at) => items.findIndex(item => item.id === id) === at)
}

describe('passages as results', () => {
  it('QE-008: each have the id of their entry, their position, lines, section, score and reasons', async () => {
    const world = openWordsWorld()
    putLines(world, 'manual', MANUAL)
    putLines(world, 'other', ['a fox', 'rain'])
    const { page } = await world.ask({ text: 'fox garden', group: 'passage', syntax: 'plain', explain: true })
    expect(
      page.items.map(({ id, passage, excerpt: { start_line, section } }) => [id, passage, start_line, section]),
    ).toEqual([
      ['manual', 3, 5, ['Top', 'Part 3']],
      ['manual', 1, 1, ['Top', 'Part 1']],
      ['other', 1, 1, ['Top', 'Part 1']],
      ['manual', 2, 3, ['Top', 'Part 2']],
    ])
    for (const { excerpt, passages, score, explanation, rank } of page.items) {
      expect(passages).toEqual([{ ...excerpt, score }])
      expect(recompute(explanation as Explanation)).toBeCloseTo(score, 12)
      expect(page.items[rank - 1]?.score).toBe(score)
    }
    expect(page).toMatchObject({ verdict: 'answered', cursor: null })
  })

  it('QE-008: by words or by meaning alone, the best passage of each entry is ranked as the entry, with its score', async () => {
    await fc.assert(
      fc.asyncProperty(documents, asked, fc.nat({ max: 8 }), async (all, { diversity: _, ...question }, embedded) => {
        const world = await worldOf(all, question.mode === 'words' ? embedded : all.length)
        const [entries, passages] = [
          await world.ask(input({ ...question, group: 'entry', limit: 1000 })),
          await world.ask(input({ ...question, limit: 1000 })),
        ]
        const best = firstOfEach(passages.page.items)
        expect(new Set(passages.page.items.map(named)).size).toBe(passages.page.items.length)
        const scores = passages.page.items.map(({ score }) => score)
        expect(scores).toEqual([...scores].sort((a, b) => b - a))
        expect(best.map(({ id }) => id).sort()).toEqual(entries.page.items.map(({ id }) => id).sort())
        const byId = new Map(entries.page.items.map(item => [item.id, item]))
        for (const { id, score, excerpt } of best) {
          const entry = byId.get(id) as Item
          // The entry takes the best of each leg, its best passage what it has of both.
          expect(entry.passages[0]).toMatchObject({ ...excerpt, score })
          expect(score).toBeLessThanOrEqual(entry.score + 1e-12)
        }
        if (question.mode !== 'hybrid' || question.text === 'kind:note') {
          expect(best.map(({ id, score }) => [id, score])).toEqual(
            entries.page.items.map(({ id, score }) => [id, score]),
          )
        }
        const { verdict, reason, mode, coverage, notes } = entries.page
        expect(passages.page).toMatchObject({ verdict, reason, mode, coverage, notes })
      }),
      { numRuns: 60 },
    )
  })

  it('QE-008: pages by cursor are one large page, held or not, and each passage can be explained', async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        asked,
        fc.nat({ max: 8 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (all, question, embedded, limit, isAlone) => {
          const world = await worldOf(all, embedded)
          const whole = await world.ask(input({ ...question, limit: 1000, explain: true }))
          const pages = await world.pages(input({ ...question, limit, explain: true }), { isAlone })
          expect(pages.flatMap(({ page }) => page.items)).toEqual(whole.page.items)
          for (const { page } of pages.slice(0, -1)) expect(page.items.length).toBe(limit)
          for (const item of whole.page.items.slice(0, 3)) {
            const { id, passage, rank, score, explanation } = item
            const target = passage === undefined ? { id } : { id, passage }
            const answer = await world.explain(input({ ...question, limit: 1000 }), target)
            expect(answer).toMatchObject({ id, passage, rank, score, explanation, dropped: null })
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('are all reached by pages where more match than are ranked at once', async () => {
    const world = openWordsWorld()
    const texts = Array.from({ length: 50 }, (_, at) => `fox ${'rain '.repeat(at % 9)}word${at}`)
    for (let at = 0; at < 60; at++) putLines(world, `e${(at * 7) % 60}`, texts)
    for (const isAlone of [false, true]) {
      const pages = await world.pages(input({ text: 'fox', limit: 1000 }), { isAlone })
      const items = pages.flatMap(({ page }) => page.items)
      expect(new Set(items.map(named)).size).toBe(3_000)
      expect(items).toHaveLength(3_000)
    }
    const listed = await world.pages(input({ text: 'kind:note', limit: 1000 }), { isAlone: true })
    expect(listed.flatMap(({ page }) => page.items.map(named)).length).toBe(3_000)
  })

  it('go on behind a page though one of them was rewritten: it is left out, and the others come', async () => {
    const world = openWordsWorld()
    putLines(world, 'manual', ['fox', 'fox rain', 'fox rain dog', 'fox rain dog car'])
    const question = input({ text: 'fox', limit: 1 })
    const first = await world.ask(question)
    expect(first.page.items.map(named)).toEqual(['manual 1'])
    putLines(world, 'manual', ['fox', 'tulip', 'fox rain dog', 'fox rain dog car'])
    const pages = [await world.ask({ ...question, limit: 5, cursor: first.page.cursor as string })]
    expect(pages.flatMap(({ page }) => page.items.map(named))).toEqual(['manual 3', 'manual 4'])
  })

  it('are explained one over another, also of one entry, and by their best where none is named', async () => {
    const world = await worldOf([MANUAL, ['a fox', 'rain on the road']])
    const question = input({ text: 'fox garden' })
    const { page } = await world.ask(question)
    const at = (rank: number) => page.items[rank - 1] as Item
    const answer = await world.explain(question, {
      ...{ id: at(1).id, passage: at(1).passage },
      ...{ over: at(3).id, over_passage: at(3).passage },
    })
    expect(answer.over).toMatchObject({ id: at(3).id, passage: at(3).passage, rank: 3 })
    expect(answer.over?.gap).toBeCloseTo(at(1).score - at(3).score, 12)
    expect(answer.sentence).toMatch(/^Passage \d of "e0" has rank 1: /)
    expect(answer.over?.sentence).toContain(` above passage ${at(3).passage} of "${at(3).id}"`)
    expect(await world.explain(question, { id: 'e0' })).toMatchObject({ passage: at(1).passage, rank: 1 })
  })

  it('that miss the page, the answer or the entry are explained too', async () => {
    const world = openWordsWorld()
    putLines(world, 'manual', MANUAL)
    const question = input({ text: 'fox garden', limit: 1 })
    expect(await world.explain(question, { id: 'manual', passage: 2 })).toMatchObject({ dropped: { stage: 'page' } })
    expect(await world.explain(question, { id: 'manual', passage: 4 })).toMatchObject({ rank: null, passage: 4 })
    await expect(world.explain(question, { id: 'manual', passage: 5 })).rejects.toMatchObject({
      code: 'not_found',
      details: { id: 'manual', passage: 5 },
    })
    await expect(world.explain({ text: 'fox' }, { id: 'manual', passage: 1 })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'passage' },
    })
  })

  it('of entries like another are found too', async () => {
    const world = openWorld()
    putLines(world, 'like', MANUAL)
    putLines(world, 'other', ['the fox sleeps in the garden', 'a car'])
    await world.embedAll()
    const key = world.parts.store.find('like', [1, 2, 3, 4])[0] as number
    const { page } = await world.similar(key, 10, { group: 'passage' })
    expect(page.items.map(named).sort()).toEqual(['other 1', 'other 2'])
  })

  it('count towards caps one by one, and a spread leaves none out', async () => {
    const world = await worldOf([MANUAL, MANUAL.map(text => `${text} quick`)])
    const spread = await world.ask(input({ text: 'fox garden', diversity: 0.3, limit: 100 }))
    expect(spread.page.items.map(named).sort()).toHaveLength(8)
    const capped = await world.ask(input({ text: 'fox garden', per_collection: 3, limit: 100 }))
    expect(capped.page.items).toHaveLength(3)
  })

  it('that time did not reach are said to be missing', async () => {
    const world = await worldOf(Array.from({ length: 40 }, () => MANUAL))
    let looks = 0
    const deadline = new Deadline(Number.POSITIVE_INFINITY)
    Object.defineProperty(deadline, 'over', { get: () => ++looks > 8 })
    const { page } = await world.ask(input({ text: 'fox garden', limit: 1000 }), { deadline })
    expect(page.items.length).toBeGreaterThan(0)
    expect(page.items.length).toBeLessThan(160)
    expect(page.coverage.complete).toBe(false)
  })

  it('are refused with several passages of each', () => {
    const refused = expect.objectContaining({ details: expect.objectContaining({ field: 'passages' }) })
    expect(() => openWordsWorld().context(input({ text: 'fox', passages: 2 }))).toThrow(refused)
  })

  it('of one entry are one use of it, and lift all of its passages alike', async () => {
    const world = openWordsWorld()
    putLines(world, 'a', ['fox rain', 'fox rain'])
    const key = world.parts.store.find('a', [1, 2, 3, 4])[0] as number
    putLines(world, 'b', ['fox rain'])
    world.parts.store.write(WORLD_NOW, writer =>
      writer.setAccess({ id: 'owner' }, key, { count: 3, strength: 3, lastAccessed: WORLD_NOW }),
    )
    const { page } = await world.ask(input({ text: 'fox' }))
    expect(page.items.map(named)).toEqual(['a 1', 'a 2', 'b 1'])
    expect(page.items[0]?.score).toBe(page.items[1]?.score)
    expect(page.items[1]?.score).toBeGreaterThan(page.items[2]?.score as number)
  })
})
