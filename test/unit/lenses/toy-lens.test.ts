import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { toyLens } from '../../fixtures/toy-lens/toy-lens.ts'

async function openWithStars(): Promise<Engine> {
  const engine = await openEngine({
    store: 'memory',
    embedder: 'none',
    background: false,
    clock: new SettableClock(1_000_000),
    lenses: [toyLens],
  })
  await engine.put({
    entries: [
      { id: 'a', content: 'fox' },
      { id: 'b', content: 'fox' },
      { id: 'c', content: 'fox and much else besides' },
    ],
  })
  return engine
}

async function rate(engine: Engine, id: string, rating: number): Promise<unknown> {
  const found = engine.lensOperations.find(({ operation }) => operation.name === 'stars.rate')
  if (found === undefined) throw new Error('the operation is missing')
  const call = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  return found.operation.run(engine.host(found.lens), { id, rating }, call)
}

async function ids(engine: Engine, text: string, lens: string): Promise<readonly string[]> {
  return (await engine.query({ text, lens, touch: false })).items.map(item => item.id)
}

describe('a lens of one folder', () => {
  it('answers with its own score and explains it, while the default lens stays as it was', async () => {
    await using engine = await openWithStars()
    expect(await ids(engine, 'fox', 'stars')).toEqual(['a', 'b', 'c'])
    expect(await rate(engine, 'c', 5)).toEqual({ rated: 'c' })
    expect(await ids(engine, 'fox', 'stars')).toEqual(['c', 'a', 'b'])
    expect(await ids(engine, 'fox', 'default')).toEqual(['a', 'b', 'c'])
    const { items } = await engine.query({ text: 'fox', lens: 'stars', explain: true, touch: false })
    expect(items[0]?.components['stars']).toBe(1)
    for (const { score, explanation } of items) expect(recompute(explanation as Explanation)).toBeCloseTo(score, 12)
    const why = await engine.explain({ query: { text: 'fox', lens: 'stars' }, id: 'c', over: 'a' })
    expect(why).toMatchObject({ rank: 1, over: { by_component: { stars: 1 } } })
  })

  it('has a column that every question can filter by', async () => {
    await using engine = await openWithStars()
    await rate(engine, 'b', 2)
    await rate(engine, 'c', 4)
    expect(await ids(engine, 'fox stars.rating:>=3', 'default')).toEqual(['c'])
    expect(await ids(engine, 'stars.rating:*', 'default')).toEqual(['b', 'c'])
  })

  it('works in the background on its own rows, which go with their entry', async () => {
    await using engine = await openWithStars()
    await rate(engine, 'a', 1)
    await rate(engine, 'b', 3)
    const host = engine.host('stars')
    const [job] = toyLens.jobs ?? []
    const reported: unknown[] = []
    const report = (progress: unknown) => reported.push(progress)
    await job?.run(host, 2_000_000, new AbortController().signal, report, () => undefined)
    expect(reported.at(-1)).toEqual({ phase: 'fade', done: 2, total: 2 })
    expect(await ids(engine, 'stars.rating:2', 'default')).toEqual(['b'])
    await engine.delete({ ids: ['b'] })
    expect(await ids(engine, 'fox stars.rating:*', 'default')).toEqual(['a'])
  })

  it('asks through its host with its own stages', async () => {
    await using engine = await openWithStars()
    await rate(engine, 'b', 5)
    const { page, entries } = await engine
      .host('stars')
      .query({ text: 'fox', limit: 1 }, { viewer: LOCAL_OWNER, signal: new AbortController().signal })
    expect(page).toMatchObject({ lens: 'stars', items: [{ id: 'b' }] })
    expect(entries).toMatchObject([{ id: 'b' }])
  })
})
