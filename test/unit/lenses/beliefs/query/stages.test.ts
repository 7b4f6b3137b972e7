/** Pages through the lens: the same beliefs in the same order as its own operation, as far as a page may show them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { recompute } from '../../../../../src/model/explanation.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { openTestEngine, TEST_NOW } from '../../../../support/engines.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

let engine: Engine
const clock = new SettableClock(TEST_NOW)

beforeEach(async () => {
  clock.set(TEST_NOW)
  engine = await openTestEngine({ embedder: openToyEmbedder(), clock })
})
afterEach(() => engine.close())

async function call<T>(viewer: string, name: string, input: unknown): Promise<T> {
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return (await callOperation(makeCatalog(engine), engine, name, input, context)) as T
}

async function world(): Promise<void> {
  await call('owner', 'federations.create', { id: 'lab' })
  for (const agent of ['ann', 'bob']) await call('owner', 'federations.set_member', { federation: 'lab', agent })
  const texts = ['rain falls', 'snow falls', 'hail hurts', 'rain and snow', 'dry days', 'wet rain']
  for (const [at, content] of texts.entries()) {
    const visibility = ['public', 'private', 'federated'][at % 3]
    const more = visibility === 'federated' ? { federation_ids: ['lab'] } : {}
    for (const holder of ['ann', 'bob', 'zoe']) {
      if (holder === 'zoe' && visibility === 'federated') continue
      await call(holder, 'beliefs.put', { content: `${content}, says ${holder}`, visibility, ...more })
      clock.set(clock.now() + 60_000)
    }
  }
  await call('ann', 'trust.set', { target: 'zoe', trust_level: 0.9 })
}

describe('a page of beliefs', () => {
  it('has own and public ones, in the order and with the scores of the query', async () => {
    await world()
    const page = await engine.query(
      { text: 'rain', lens: 'beliefs', limit: 50, touch: false, explain: true },
      { viewer: { id: 'ann' } },
    )
    const options = { scope: { local: true, network: true }, limit: 50, dry_run: true }
    const { beliefs } = await call<{ beliefs: { belief: { id: string }; score: { final: number } }[] }>(
      'ann',
      'beliefs.query',
      {
        semantic: 'rain',
        options,
      },
    )
    expect(page.items.map(({ id }) => id)).toEqual(beliefs.map(({ belief }) => belief.id))
    for (const [at, item] of page.items.entries()) {
      expect(item.score).toBeCloseTo(beliefs[at]?.score.final as number, 9)
      expect(item.explanation && recompute(item.explanation)).toBeCloseTo(item.score, 9)
    }
    expect(page.items.some(({ holder }) => holder === 'bob')).toBe(true)
  })

  it('shows nobody what it may not name the holder of, nor what is private', async () => {
    await world()
    for (const lens of ['beliefs', 'default']) {
      const { items } = await engine.query({ text: 'rain snow hail', lens, limit: 50 }, { viewer: { id: 'ann' } })
      const others = items.filter(({ holder }) => holder !== 'ann').map(({ excerpt }) => excerpt.text)
      expect(others.filter(text => /hail|wet|snow falls|dry/.test(text))).toEqual([])
      expect(others.length).toBeGreaterThan(0)
    }
  })

  it('keeps the conditions of the text and of the request', async () => {
    await world()
    const ask = async (text: string) =>
      (await engine.query({ text, lens: 'beliefs', limit: 50 }, { viewer: { id: 'ann' } })).items.map(
        ({ excerpt }) => excerpt.text,
      )
    expect((await ask('falls +rain')).every(text => text.includes('rain'))).toBe(true)
    expect((await ask('falls -rain')).some(text => text.includes('rain'))).toBe(false)
    expect(await ask('holder:zoe')).toEqual(expect.arrayContaining([expect.stringContaining('zoe')]))
  })

  it('takes the filters and the context of a belief query as options, and refuses those of another requester', async () => {
    await world()
    const options = {
      filters: { created_after: '2020-01-01T00:00:00Z', exclude_holders: ['bob'] },
      context: { ranking_weights: { semantic: 0, confidence: 0, trust: 1, recency: 0.5 } },
    }
    for (const text of ['rain', '']) {
      const asked = { text, lens: 'beliefs', limit: 50, touch: false, options }
      const page = await engine.query(asked, { viewer: { id: 'ann' } })
      const { beliefs } = await call<{ beliefs: { belief: { id: string; holder_id: string } }[] }>(
        'ann',
        'beliefs.query',
        {
          ...options,
          semantic: text,
          options: { scope: { local: true, network: true }, limit: 50, dry_run: true },
        },
      )
      expect(page.items.map(({ id }) => id)).toEqual(beliefs.map(({ belief }) => belief.id))
      expect(new Set(page.items.map(({ holder }) => holder))).toEqual(new Set(['ann', 'zoe']))
    }
    const foreign = { text: 'rain', lens: 'beliefs', options: { context: { requester_id: 'bob' } } }
    await expect(engine.query(foreign, { viewer: { id: 'ann' } })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('is spread over unlike beliefs where that is asked for', async () => {
    for (const [id, content] of [
      ['first', 'rain falls on the hills'],
      ['copy', 'rain falls on all the hills'],
      ['other', 'rain barrels and gutters of a house'],
    ]) {
      await call('ann', 'beliefs.put', { id, content, visibility: 'public' })
    }
    const ids = async (diversity: number) => {
      const asked = { text: 'rain on the hills', lens: 'beliefs', any: true, touch: false, diversity }
      return (await engine.query(asked, { viewer: { id: 'ann' } })).items.map(({ id }) => id)
    }
    expect((await ids(1)).at(-1)).toBe('other')
    expect((await ids(0.3))[1]).toBe('other')
  })

  it('is explained: a belief that is not in it by the step that left it out', async () => {
    const until = new Date(clock.now() + 1000).toISOString()
    for (const [id, more] of [
      ['kept', { content: 'rain on the hills', visibility: 'public' }],
      ['past', { content: 'rain on the sea', visibility: 'public', valid_until: until }],
      ['news', { content: 'rain on the roofs', visibility: 'public', domains: ['news'] }],
      ['secret', { content: 'rain on the moon' }],
    ] as const) {
      await call('bob', 'beliefs.put', { id, ...more })
    }
    await call('ann', 'put', { entries: [{ id: 'note', content: 'rain in a note' }] })
    clock.set(clock.now() + 2000)
    const query = { text: 'rain on the hills', lens: 'beliefs', options: { filters: { domains_exclude: ['news'] } } }
    const reason = async (id: string, viewer = 'ann') => {
      const { dropped } = await engine.explain({ query, id }, { viewer: { id: viewer } })
      return dropped?.reason ?? null
    }
    expect(await reason('kept')).toBe(null)
    expect(await reason('news')).toBe('It does not pass the filter domains_exclude.')
    expect(await reason('past')).toBe('It is not valid at the time of the query.')
    expect(await reason('note')).toBe('It is not a belief.')
    await expect(reason('secret')).rejects.toMatchObject({ code: 'not_found' })
    expect(await reason('secret', 'owner')).toBe('Its holder does not share it with you.')
  })
})
