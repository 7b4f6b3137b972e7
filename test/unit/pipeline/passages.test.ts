/** Passages of a result (QE-008): which chunks of an entry are shown, in which order, with which scores. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import type { Passage } from '../../../src/model/page.ts'
import { audience } from '../../../src/model/partition.ts'
import type { Viewer } from '../../../src/model/viewer.ts'
import { sentences } from '../../support/ask-arbitraries.ts'
import { openWordsWorld, openWorld, putLines } from './world.ts'

const MANUAL = ['tulip garden rain', 'a fox and a dog jump', 'the fox sleeps in the garden', 'a car on the road']

const documents = fc.array(fc.array(sentences(), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
const asked = fc.record({
  text: sentences(),
  mode: fc.constantFrom('hybrid', 'words', 'meaning'),
  approximate: fc.boolean(),
  embedded: fc.boolean(),
})

describe('passages', () => {
  it('QE-008: are the best chunks of the entry, best first, each with lines, section and score', async () => {
    const world = openWordsWorld()
    putLines(world, 'manual', MANUAL)
    const { page } = await world.ask({ text: 'fox garden', passages: 3, syntax: 'plain' })
    const [item] = page.items
    expect(
      item?.passages?.map(({ text, start_line, end_line, section }) => [text, start_line, end_line, section]),
    ).toEqual([
      ['the fox sleeps in the garden', 5, 5, ['Top', 'Part 3']],
      ['tulip garden rain', 1, 1, ['Top', 'Part 1']],
      ['a fox and a dog jump', 3, 3, ['Top', 'Part 2']],
    ])
    expect(item?.passages?.[0]?.score).toBe(item?.score)
  })

  it('QE-008: are the best one by default, with lines, section and score, and more change neither rank, score nor excerpt', async () => {
    const world = openWorld()
    putLines(world, 'manual', MANUAL)
    putLines(world, 'other', ['a dog', 'rain on the road and the garden'])
    await world.embedAll()
    const plain = await world.ask({ text: 'fox garden road' })
    const withPassages = await world.ask({ text: 'fox garden road', passages: 10 })
    for (const [at, { excerpt, passages }] of plain.page.items.entries()) {
      const best = withPassages.page.items[at]?.passages[0]
      expect(passages).toEqual([{ ...excerpt, score: best?.score }])
    }
    const rest = (items: typeof plain.page.items) => items.map(({ passages: _passages, ...item }) => item)
    expect(rest(withPassages.page.items)).toEqual(rest(plain.page.items))
  })

  it('are distinct chunks of the entry, at most as many as asked for, and the first is the excerpt: whatever is known and asked', async () => {
    await fc.assert(
      fc.asyncProperty(documents, asked, fc.integer({ min: 1, max: 10 }), async (all, query, passages) => {
        const { embedded, ...question } = query
        const world = openWorld()
        for (const [at, texts] of all.entries()) {
          putLines(world, `e${at}`, texts)
          if (!embedded && at === 0) await world.embedAll()
        }
        if (embedded) await world.embedAll()
        const plain = await world.ask({ ...question, any: true })
        const { page } = await world.ask({ ...question, any: true, passages, explain: true })
        for (const [at, item] of page.items.entries()) {
          const shown = item.passages as readonly Passage[]
          const texts = all[Number(item.id.slice(1))] as readonly string[]
          expect(shown.length).toBeGreaterThan(0)
          expect(shown.length).toBeLessThanOrEqual(passages)
          expect(new Set(shown.map(({ start_line }) => start_line)).size).toBe(shown.length)
          for (const each of shown) expect(each.text).toBe(texts[(each.start_line - 1) / 2]?.trim())
          const scores = shown.map(({ score }) => score)
          expect(scores).toEqual([...scores].sort((a, b) => b - a))
          expect(item.excerpt).toEqual(plain.page.items[at]?.excerpt)
          expect(plain.page.items[at]?.passages).toEqual([{ ...item.excerpt, score: shown[0]?.score }])
          expect(shown[0]).toMatchObject(item.excerpt)
          for (const { score, explanation } of shown) {
            expect(Math.abs(recompute(explanation as Explanation) - score)).toBeLessThan(1e-12)
          }
          if (embedded) for (const score of scores) expect(score).toBeLessThanOrEqual(item.score + 1e-12)
          if (embedded && texts.length <= passages && question.mode !== 'meaning')
            expect(shown).toHaveLength(texts.length)
        }
      }),
      { numRuns: 80 },
    )
  })

  it('show no text twice where chunks overlap', async () => {
    const world = openWordsWorld()
    const content = 'the fox sleeps in the garden\na car on the road'
    world.put({ id: 'a', content }, [
      { start: 0, end: content.length, startLine: 1, endLine: 2, headings: [] },
      { start: 0, end: 28, startLine: 1, endLine: 1, headings: [] },
      { start: 29, end: content.length, startLine: 2, endLine: 2, headings: [] },
    ])
    const { page } = await world.ask({ text: 'fox garden car', passages: 5, any: true })
    expect(page.items[0]?.passages?.map(({ text }) => text)).toEqual([content])
  })

  it('of a list are the first chunks', async () => {
    const world = openWordsWorld()
    putLines(world, 'manual', MANUAL)
    const { page } = await world.ask({ text: 'kind:note', passages: 2 })
    expect(page.mode).toBe('list')
    expect(page.items[0]?.passages?.map(({ start_line, score }) => [start_line, score])).toEqual([
      [1, 0],
      [3, 0],
    ])
  })

  it('may change from page to page', async () => {
    const world = openWordsWorld()
    for (const id of ['a', 'b', 'c']) putLines(world, id, MANUAL)
    const first = await world.ask({ text: 'fox', limit: 2 })
    const { page } = await world.ask({ text: 'fox', limit: 2, passages: 2, cursor: first.page.cursor as string })
    expect(page.items.map(({ id, passages }) => [id, passages?.length])).toEqual([['c', 2]])
  })

  it('do not depend on entries that the viewer may not see', async () => {
    const ann: Viewer = { id: 'ann' }
    const shownTo = async (hidden: readonly string[]) => {
      const world = openWorld()
      putLines(world, 'manual', MANUAL, audience('public'))
      if (hidden.length > 0) putLines(world, 'secret', hidden, audience('private'))
      await world.embedAll()
      const { page } = await world.ask(
        { text: 'fox garden road', passages: 5, explain: true, any: true },
        { viewer: ann },
      )
      return page.items
    }
    expect(await shownTo(['fox fox fox', 'garden road'])).toEqual(await shownTo([]))
  })

  it('are refused, where there are several, if the lens does not score single passages', async () => {
    const { DEFAULT_LENS_STAGES } = await import('../../../src/pipeline/default-stages.ts')
    const stages = {
      ...DEFAULT_LENS_STAGES,
      score: (...args: Parameters<typeof DEFAULT_LENS_STAGES.score>) => {
        const { rate: _rate, ...scoring } = DEFAULT_LENS_STAGES.score(...args)
        return scoring
      },
    }
    const world = openWordsWorld()
    putLines(world, 'manual', MANUAL)
    const refusal = expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('passages') })
    await expect(world.ask({ text: 'fox', passages: 2 }, { stages })).rejects.toEqual(refusal)
    const { page } = await world.ask({ text: 'fox', passages: 1 }, { stages })
    expect(page.items[0]?.passages?.map(({ score }) => score)).toEqual([page.items[0]?.score])
  })
})
