/** Lists by page: every visible entry once, in order, whatever comes and goes between two pages. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine, ListInput } from '../../../src/engine/engine.ts'
import { openTestEngine, TEST_NOW } from '../../support/engines.ts'

type Order = NonNullable<ListInput['order']>
const ORDERS: readonly Order[] = ['created', 'updated', 'accessed', 'id']
const ann = { viewer: { id: 'ann' } }

async function pages(
  engine: Engine,
  input: ListInput,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | null = null, page = 1; ; page++) {
    const { items, cursor: next }: Awaited<ReturnType<Engine['list']>> = await engine.list(
      { ...input, ...(cursor === null ? {} : { cursor }) },
      ann,
    )
    ids.push(...items.map(item => item.id))
    if (next === null) return ids
    cursor = next
    await between(page)
  }
}

/** Entries of ann's and others', some created and some used at the same moment. */
async function filled(times: readonly number[]): Promise<Engine> {
  const clock = new SettableClock(TEST_NOW)
  const engine = await openTestEngine({ clock })
  for (const [at, time] of times.entries()) {
    clock.set(TEST_NOW + time)
    const entry = { id: `e${at}`, content: `fox number${at}`, created_at: TEST_NOW - time * 1000 }
    await engine.put({ entries: [entry] }, ann)
    await engine.put({ entries: [{ ...entry, id: `hidden${at}` }] })
    if (time % 2 === 1) await engine.query({ text: `number${at}`, touch: true }, ann)
  }
  clock.set(TEST_NOW + 1_000)
  return engine
}

describe('a list', () => {
  it('by pages is the list at once', async () => {
    const times = fc.array(fc.nat({ max: 5 }), { maxLength: 12 })
    const property = fc.asyncProperty(times, fc.integer({ min: 1, max: 4 }), async (given, limit) => {
      const engine = await filled(given)
      for (const order of ORDERS) {
        const whole = await engine.list({ order, limit: 100 }, ann)
        expect(whole.total).toBe(given.length)
        expect(whole.items.map(item => item.id).sort()).toEqual(given.map((_, at) => `e${at}`).sort())
        expect(await pages(engine, { order, limit })).toEqual(whole.items.map(item => item.id))
      }
    })
    await fc.assert(property, { numRuns: 15 })
  })

  it('orders by what it says, newest first, never used last', async () => {
    const engine = await filled([3, 1, 4, 1, 5])
    expect(await pages(engine, { order: 'updated', limit: 2 })).toEqual(['e4', 'e2', 'e0', 'e1', 'e3'])
    expect(await pages(engine, { order: 'created', limit: 2 })).toEqual(['e1', 'e3', 'e0', 'e2', 'e4'])
    expect(await pages(engine, { order: 'accessed', limit: 2 })).toEqual(['e4', 'e0', 'e1', 'e3', 'e2'])
    expect(await pages(engine, { order: 'id', limit: 2 })).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
  })

  it('neither skips nor repeats while entries come and go', async () => {
    const engine = await filled([1, 2, 3, 4, 5, 6])
    const change = async (page: number) => {
      if (page === 1) await engine.delete({ ids: ['e0'] }, ann)
      // Before the place where the last page ended: not to be seen any more.
      if (page === 2) await engine.put({ entries: [{ id: 'a new one', content: 'new' }] }, ann)
    }
    expect(await pages(engine, { order: 'id', limit: 1 }, change)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5'])
  })

  it('filters, and counts what fulfils the filter', async () => {
    const engine = await filled([1, 2, 3])
    const input: ListInput = { filter: { ids: ['e1', 'e2', 'hidden1'] }, limit: 1 }
    expect(await engine.list(input, ann)).toMatchObject({ total: 2 })
    expect(await pages(engine, input)).toEqual(['e2', 'e1'])
    expect((await engine.list(input)).total).toBe(3)
  })
})
