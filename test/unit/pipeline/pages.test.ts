import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Item } from '../../../src/model/page.ts'
import { audience } from '../../../src/model/partition.ts'
import { DEFAULT_LENS_STAGES, DEFAULT_STAGES } from '../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../src/pipeline/stage.ts'
import { knowledge, questions } from '../../support/ask-arbitraries.ts'
import { type AskWorld, WORLD_NOW } from '../../support/ask-world.ts'
import { openWorld } from './world.ts'

const owners = fc.constantFrom(audience('private'), audience('public'), audience('private', 'ann'))
const idsOf = (items: readonly Item[]) => items.map(item => `${item.rank} ${item.id} ${item.holder}`)

/** Many entries that tie: few different texts, ids that do not rise with the keys. */
function crowdedWorld(): AskWorld {
  const world = openWorld()
  for (let number = 0; number < 420; number++) {
    const content = `fox ${['rain', 'dog', 'road car', 'tulip'][number % 4]} ${number % 9 === 0 ? 'garden' : ''}`
    world.put({ id: `e${(number * 7919) % 420}`, content, updatedAt: number % 5, collection: `c${number % 3}` })
  }
  return world
}

describe('pages', () => {
  it('joined are the whole answer', async () => {
    await fc.assert(
      fc.asyncProperty(knowledge(owners), questions(), fc.integer({ min: 1, max: 7 }), async (all, question, limit) => {
        const world = openWorld()
        await world.learn(all)
        const input = { ...question, any: true, explain: true }
        const whole = await world.ask({ ...input, limit: 1000 })
        const pages = await world.pages({ ...input, limit })
        expect(pages.flatMap(({ page }) => page.items)).toEqual(whole.page.items)
        expect(whole.page.cursor).toBeNull()
        for (const { page } of pages.slice(0, -1)) expect(page.items.length).toBe(limit)
        expect(pages.length).toBe(Math.max(1, Math.ceil(whole.page.items.length / limit)))
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    { text: 'fox garden' },
    { text: 'fox', mode: 'words' as const },
    { text: 'car', mode: 'meaning' as const, any: true },
    { text: 'collection:c1' },
    { text: 'fox dog', diversity: 0.8 },
    { text: 'fox dog', per_collection: 20 },
    { text: 'fox dog', diversity: 0.5, per_collection: 110 },
  ])(
    'far beyond the first retrieval hold every entry once, and are the whole answer where it is exact: $text $mode',
    async question => {
      const world = crowdedWorld()
      await world.embedAll()
      for (const approximate of [false, true]) {
        const input = { ...question, approximate }
        const whole = (await world.ask({ ...input, limit: 1000 })).page.items
        for (const limit of [10, 37]) {
          const items = (await world.pages({ ...input, limit })).flatMap(({ page }) => page.items)
          expect(items.map(item => item.rank)).toEqual(items.map((_, at) => at + 1))
          expect(items.map(item => item.id).sort()).toEqual(whole.map(item => item.id).sort())
          expect(items.slice(0, limit)).toEqual((await world.ask({ ...input, limit })).page.items)
          if (!approximate) expect(idsOf(items)).toEqual(idsOf(whole))
        }
        const most = question.per_collection === undefined ? 420 : 3 * question.per_collection
        expect(whole.length).toBe(question.text === 'collection:c1' ? 140 : most)
      }
    },
  )

  it('are the same whether retrieval knows what can reach them or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        knowledge(owners, 60),
        questions(),
        fc.integer({ min: 1, max: 7 }),
        async (all, question, limit) => {
          const world = openWorld()
          await world.learn(all)
          const input = { ...question, any: true, explain: true, limit }
          const near = await world.pages(input)
          const everything = await world.pages(input, { stages: DEFAULT_STAGES })
          expect(near.map(({ page }) => page)).toEqual(everything.map(({ page }) => page))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('need not complete what cannot reach them', async () => {
    const world = crowdedWorld()
    await world.embedAll()
    const candidates = async (stages: Stages) => {
      const { page } = await world.ask({ text: 'fox garden', limit: 5, trace: true }, { stages })
      return page.trace?.find(({ stage }) => stage === 'retrieve')?.out ?? Number.NaN
    }
    expect(await candidates(DEFAULT_LENS_STAGES)).toBeLessThan(await candidates(DEFAULT_STAGES))
  })

  it('are held from when a cursor is read, and not where nobody reads one', async () => {
    const world = crowdedWorld()
    const { page } = await world.ask({ text: 'fox dog', limit: 10 })
    expect(world.held.size).toBe(0)
    const cursor = page.cursor
    expect([world.held.size, page.cursor, { ...page }.cursor]).toEqual([1, cursor, cursor])
    await world.ask({ text: 'fox dog', limit: 10, cursor: cursor as string })
    expect(world.held.size).toBe(1)
  })

  it('go on in the order of the first where its cursor is read after others have written', async () => {
    const world = crowdedWorld()
    const input = { text: 'fox dog', mode: 'words' as const }
    const whole = await world.ask({ ...input, limit: 100 })
    const { page } = await world.ask({ ...input, limit: 10 })
    for (let number = 0; number < 30; number++) world.put({ id: `dog-${number}`, content: 'fox dog fox dog dog' })
    const changed = await world.ask({ ...input, limit: 10 })
    expect(changed.page.items.every(({ id }) => id.startsWith('dog-'))).toBe(true)
    const next = await world.ask({ ...input, limit: 10, cursor: page.cursor as string })
    expect(idsOf(next.page.items)).toEqual(idsOf(whole.page.items.slice(10, 20)))
  })

  it('belong to one question and one viewer, and to a day', async () => {
    const world = openWorld()
    for (const id of ['a', 'b', 'c']) world.put({ id, content: 'fox', audience: audience('public') })
    await world.embedAll()
    const input = { text: 'fox', limit: 1 }
    const cursor = (await world.ask(input)).page.cursor as string
    const next = (changed: object, options = {}) => world.ask({ ...input, cursor, ...changed }, options)
    for (const changed of [{ text: 'foxes' }, { mode: 'words' as const }, { filter: { tags: ['x'] } }, { any: true }]) {
      await expect(next(changed)).rejects.toMatchObject({ code: 'cursor_mismatch' })
    }
    await expect(next({}, { viewer: { id: 'ann' } })).rejects.toMatchObject({ code: 'cursor_mismatch' })
    await expect(next({ cursor: `${cursor}x` })).rejects.toMatchObject({ code: 'cursor_invalid' })
    const tomorrow = WORLD_NOW + 86_400_000
    await expect(next({}, { now: tomorrow })).rejects.toMatchObject({ code: 'cursor_expired' })
    // How much is shown, and how, may change from page to page.
    const { page } = await next({ limit: 2, explain: true, excerpt_length: 50, trace: true, touch: false })
    expect(page.items.map(item => [item.rank, item.id])).toEqual([
      [2, 'b'],
      [3, 'c'],
    ])
    expect(page.cursor).toBeNull()
  })
})

describe('spread', () => {
  it('shows something else before the twin', async () => {
    const world = openWorld()
    world.put({ id: 'a', content: 'fox fox dog' })
    world.put({ id: 'b', content: 'fox dog fox' })
    world.put({ id: 'c', content: 'fox rain road' })
    await world.embedAll()
    const ids = async (diversity: number) =>
      (await world.ask({ text: 'fox dog', diversity })).page.items.map(item => item.id)
    expect(await ids(1)).toEqual(['a', 'b', 'c'])
    expect(await ids(0.3)).toEqual(['a', 'c', 'b'])
  })

  it('takes at most so many of one collection and of one origin; what has no origin is not capped', async () => {
    const world = openWorld()
    for (const [at, origin] of ['one', 'one', 'one', null, null].entries()) {
      world.put({ id: `e${at}`, content: 'fox', origin, collection: at === 0 ? 'x' : 'y' })
    }
    await world.embedAll()
    const ids = async (input: object) => (await world.ask({ text: 'fox', ...input })).page.items.map(item => item.id)
    expect(await ids({ per_origin: 1 })).toEqual(['e0', 'e3', 'e4'])
    expect(await ids({ per_collection: 2 })).toEqual(['e0', 'e1', 'e2'])
    expect(await ids({ per_collection: 2, per_origin: 1 })).toEqual(['e0', 'e3', 'e4'])
  })
})
