/** What counts as use of an entry: opening and citing it, not being listed. QE-014. */
import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { call, KILN } from '../../support/conversations.ts'
import { openTestEngine, TEST_NOW } from '../../support/engines.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const NOTES = ['fox in the den', 'fox and dog', 'tulip in the garden', 'vixen and fox'].map((content, at) => ({
  ...{ id: `n${at}`, content },
}))

async function opened(clock = new SettableClock(TEST_NOW)): Promise<Engine> {
  const engine = await openTestEngine({ clock, embedder: openToyEmbedder() })
  await engine.put({ entries: NOTES, wait: true })
  return engine
}

/** Without counting the look itself. */
async function usesOf(engine: Engine, id: string): Promise<number> {
  return (await engine.get({ id, touch: false })).access?.count ?? 0
}

async function scoresOf(engine: Engine, input: QueryInput): Promise<readonly number[]> {
  return (await engine.query(input)).items.map(({ score }) => score)
}

describe('use', () => {
  it('is not being listed: the same question three times gives the same scores', async () => {
    const clock = new SettableClock(TEST_NOW)
    const engine = await opened(clock)
    const first = await scoresOf(engine, { text: 'fox' })
    for (let again = 0; again < 2; again++) {
      clock.set(clock.now() + 60_000)
      expect(await scoresOf(engine, { text: 'fox' })).toEqual(first)
    }
    await engine.similar({ id: 'n0' })
    for await (const _ of engine.stream({ text: 'fox', chunk_size: 1 }));
    await engine.explain({ query: { text: 'fox' }, id: 'n0' })
    await engine.list({})
    for (const { id } of NOTES) expect(await usesOf(engine, id)).toBe(0)
    await engine.close()
  })

  it('is opening, citing, and being listed where the request says so', async () => {
    const engine = await opened()
    expect((await engine.get({ id: 'n0' })).access).toMatchObject({ count: 1 })
    expect(await usesOf(engine, 'n0')).toBe(1)
    expect(await call(engine, 'touch', { ids: ['n0', 'n1', 'n0'] })).toEqual({ touched: 2 })
    expect([await usesOf(engine, 'n0'), await usesOf(engine, 'n1')]).toEqual([2, 1])
    const { items } = await engine.query({ text: 'tulip', touch: true, limit: 1 })
    expect(items[0]?.id).toBe('n2')
    expect(await usesOf(engine, 'n2')).toBe(1)
    for await (const _ of engine.stream({ text: 'tulip', touch: true, limit: 1 }));
    expect(await usesOf(engine, 'n2')).toBe(2)
    await engine.close()
  })

  it('is counted of all entries or of none, and only of what is visible', async () => {
    const engine = await opened()
    await expect(engine.touch({ ids: ['n0', 'none'] })).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.touch({ ids: ['n0'] }, { viewer: { id: 'bob' } })).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.touch({ ids: [] })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await usesOf(engine, 'n0')).toBe(0)
    await engine.close()
  })

  it('is of the viewer who opens an entry', async () => {
    const engine = await opened()
    await engine.put({ entries: [{ id: 'open', content: 'fox for all', visibility: 'public' }] })
    await engine.get({ id: 'open' }, { viewer: { id: 'bob' } })
    expect(await usesOf(engine, 'open')).toBe(0)
    await engine.close()
  })

  it('is in the score that explain gives: that of the answer', async () => {
    const clock = new SettableClock(TEST_NOW)
    const engine = await opened(clock)
    for (let use = 0; use < 3; use++) await engine.get({ id: 'n1' })
    clock.set(TEST_NOW + 3_600_000)
    for (const query of [
      { text: 'fox' },
      { text: 'fox den', approximate: false },
      { text: 'fox', mode: 'words' },
    ] as const) {
      const page = await engine.query(query)
      expect(page.items.some(({ components }) => (components['memory'] ?? 0) > 0)).toBe(true)
      for (const { id, score, rank } of page.items) {
        expect(await engine.explain({ query, id })).toMatchObject({ rank, score })
      }
      // Also later, where it is asked as of the moment of the answer.
      const later = { ...query, as_of: page.as_of }
      clock.set(clock.now() + 86_400_000)
      for (const { id, score } of page.items)
        expect(await engine.explain({ query: later, id })).toMatchObject({ score })
    }
    await engine.close()
  })

  it('is not what conversations list, unless the request says so', async () => {
    const engine = await openTestEngine()
    for (const line of KILN) await call(engine, 'conversations.remember', { ...line })
    const idsOf = ({ messages }: { messages: readonly { id: string }[] }) => messages.map(({ id }) => id)
    const [id] = idsOf(await call(engine, 'conversations.query', { text: 'kiln barn' })) as [string]
    await engine.query({ text: 'kiln barn', lens: 'conversations' })
    expect(await usesOf(engine, id)).toBe(0)
    await call(engine, 'conversations.query', { text: 'kiln barn', touch: true })
    expect(await usesOf(engine, id)).toBe(1)
    await engine.close()
  })
})
