import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { type FilterSubject, matches } from '../../../src/model/filter.ts'
import { audience } from '../../../src/model/partition.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { allowedEntries } from '../../../src/pipeline/conditions.ts'
import { parse } from '../../../src/pipeline/parse.ts'
import { resolveQuery } from '../../../src/pipeline/resolve-query.ts'
import { type Known, knowledge, questions } from '../../support/ask-arbitraries.ts'
import { openWorld } from './world.ts'

const asked = {
  ...{
    viewer: { id: 'owner' },
    now: 1_000,
    secret: () => 's',
    defaultLens: 'default',
    countsListing: () => false,
    optionsOf: () => ({}),
  },
  fields: ['id', 'color.l', 'color.name'],
}

describe('filters', () => {
  it('pushed into retrieval keep exactly what would be kept afterwards', async () => {
    const owners = fc.constantFrom(audience('private'), audience('private', 'ann'))
    await fc.assert(
      fc.asyncProperty(knowledge(owners), questions(), async (all, question) => {
        const world = openWorld()
        await world.learn(all)
        const context = world.context({ ...question, any: true })
        const plan = parse(context.query, context)
        fc.pre(plan.mode !== 'list' && plan.parsed.must.length === 0 && plan.parsed.phrases.length === 0)
        fc.pre(plan.parsed.mustNot.length === 0)
        const { asOf } = context.query
        const holds = ({ draft }: Known) => (draft.validFrom ?? asOf) <= asOf && (draft.validUntil ?? asOf + 1) > asOf
        const fits = ({ draft, access }: Known) => {
          const subject = { entry: draft, access, aspect: () => null } as unknown as FilterSubject
          return plan.filter === null || matches(plan.filter, subject)
        }
        const kept = all.filter(holds).filter(fits)
        const allow = atOnce(allowedEntries(plan, context))
        const ids = allow === null ? null : [...allow].map(key => world.parts.store.entry(key)?.id)
        if (ids === null) expect(kept.length).toBe(all.length)
        else expect([...ids].sort()).toEqual(kept.map(({ draft }) => draft.id).sort())
      }),
      { numRuns: 100 },
    )
  })

  it('that are remembered answer as those asked again, after every change', async () => {
    const world = openWorld()
    const ids = async (input: QueryInput) => (await world.ask(input)).page.items.map(item => item.id)
    const key = world.put({ id: 'a', content: 'fox', tags: ['red'] })
    await world.embedAll()
    expect(await ids({ text: 'fox', filter: { tags: ['red'] } })).toEqual(['a'])
    world.put({ id: 'a', content: 'fox', tags: ['blue'] })
    expect(await ids({ text: 'fox', filter: { tags: ['red'] }, any: true })).toEqual([])
    expect(await ids({ text: 'fox', filter: { tags: ['blue'] } })).toEqual(['a'])
    expect(await ids({ text: 'fox', filter: { accessed: { after: '2020-01-01' } }, any: true })).toEqual([])
    // Use is not in the feed, so what depends on it is never remembered.
    world.parts.store.write(1, writer => writer.touch({ id: 'owner' }, [key], Date.UTC(2025, 1, 1), 1))
    expect(await ids({ text: 'fox', filter: { accessed: { after: '2020-01-01' } } })).toEqual(['a'])
  })
})

describe('validity', () => {
  it('leaves out what does not hold now, or at the moment asked about', async () => {
    const world = openWorld()
    const day = (text: string) => Date.parse(text)
    world.put({ id: 'always', content: 'fox' })
    world.put({ id: 'spring', content: 'fox', validFrom: day('2025-03-01'), validUntil: day('2025-06-01') })
    world.put({ id: 'since', content: 'fox', validFrom: day('2025-05-01') })
    await world.embedAll()
    const ids = async (as_of?: string) => {
      const { page } = await world.ask({ text: 'fox', ...(as_of === undefined ? {} : { as_of }) })
      return page.items.map(item => item.id)
    }
    expect(await ids('2025-02-28')).toEqual(['always'])
    expect(await ids('2025-03-01')).toEqual(['always', 'spring'])
    expect(await ids('2025-05-15')).toEqual(['always', 'since', 'spring'])
    expect(await ids('2025-06-01')).toEqual(['always', 'since'])
    expect(await ids()).toEqual(['always', 'since'])
    // A change of the bounds is seen at once.
    world.put({ id: 'since', content: 'fox', validFrom: day('2025-05-01'), validUntil: day('2025-05-02') })
    expect(await ids()).toEqual(['always'])
    world.put({ id: 'spring', content: 'fox' })
    expect(await ids()).toEqual(['always', 'spring'])
  })

  it('knows only what was known then', async () => {
    const world = openWorld()
    world.put({ id: 'old', content: 'fox', knownAt: 10 })
    world.put({ id: 'new', content: 'fox', knownAt: 20 })
    await world.embedAll()
    const ids = async (known_at: number) =>
      (await world.ask({ text: 'fox', known_at, any: true })).page.items.map(item => item.id)
    expect([await ids(9), await ids(10), await ids(20)]).toEqual([[], ['old'], ['new', 'old']])
  })
})

describe('words that must and must not occur', () => {
  it('hold for entries', async () => {
    const world = openWorld()
    world.put({ id: 'both', content: 'fox and dog' })
    world.put({ id: 'fox', content: 'fox and rain' })
    world.put({ id: 'turned', content: 'dog and fox' })
    await world.embedAll()
    const ids = async (text: string) => (await world.ask({ text, any: true })).page.items.map(item => item.id).sort()
    expect(await ids('rain +dog')).toEqual(['both', 'turned'])
    expect(await ids('rain -dog')).toEqual(['fox'])
    expect(await ids('"fox and dog"')).toEqual(['both'])
    expect(await ids('fox -"dog and"')).toEqual(['both', 'fox'])
    expect(await ids('fox +tulip')).toEqual([])
  })
})

describe('a question that cannot be', () => {
  it.each([
    {
      input: { text: 'x', filter: { created: { after: '2025-02-01', before: '2025-01-01' } } },
      field: 'filter.created',
    },
    { input: { text: 'x', filter: { updated: { after: 5, before: 5 } } }, field: 'filter.updated' },
    { input: { text: 'x', filter: { fields: { 'color.hidden': 1 } } }, field: 'filter.fields' },
    { input: { text: 'x', filter: { fields: { id: 'x' } } }, field: 'filter.fields' },
    { input: { text: 'x', as_of: '2025-13-01' }, field: 'as_of' },
    { input: { text: 'x', known_at: 9e15 }, field: 'known_at' },
    { input: { text: 'x', filter: { valid_at: '2025-02-30T25:00:00Z' } }, field: 'filter.valid_at' },
  ])('names $field', ({ input, field }) => {
    expect(() => resolveQuery(input, asked)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(() => resolveQuery(input, asked)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    )
  })

  it('is none where it sets conditions on fields of aspects', () => {
    const fields = { 'color.name': ['red', 'blue'], 'color.l': { gte: 5 } }
    expect(resolveQuery({ text: 'x', filter: { fields } }, asked).filter).toEqual({
      op: 'and',
      of: [
        { op: 'in', field: 'color.name', values: ['red', 'blue'] },
        { op: 'gte', field: 'color.l', value: 5 },
      ],
    })
  })

  it('is one of blanks without a filter', async () => {
    const world = openWorld()
    world.put({ id: 'a', tags: ['red'] })
    await expect(world.ask({ text: '  ' })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect((await world.ask({ text: '', filter: { tags: ['red'] } })).page).toMatchObject({
      mode: 'list',
      items: [{ id: 'a' }],
    })
  })
})

describe('a list', () => {
  it('is in the order of the last change, then of ids', async () => {
    const world = openWorld()
    for (const [id, updatedAt] of [
      ['c', 2],
      ['b', 3],
      ['a', 2],
    ] as const) {
      world.put({ id, updatedAt, tags: ['red'] })
    }
    const { page } = await world.ask({ text: 'tag:red -tag:blue', explain: true })
    expect(page.items.map(item => item.id)).toEqual(['b', 'a', 'c'])
    expect(page.items[0]).toMatchObject({ score: 0, why: 'matches the conditions; changed 1970-01-01' })
    expect((await world.ask({ text: 'tag:green' })).page).toMatchObject({ items: [], verdict: 'nothing_relevant' })
  })
})
