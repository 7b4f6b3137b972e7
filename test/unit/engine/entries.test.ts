/** Writing as a viewer: own entries only, all or none, and others' as if they were not there. */
import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { PutInput } from '../../../src/engine/engine.ts'
import { openTestEngine, TEST_NOW } from '../../support/engines.ts'

const ann = { viewer: { id: 'ann' } }
const bob = { viewer: { id: 'bob' } }

describe('put', () => {
  it('creates, updates and leaves alone, and tells which', async () => {
    const clock = new SettableClock(TEST_NOW)
    const engine = await openTestEngine({ clock })
    const entries: readonly PutInput[] = [
      { id: 'a', content: 'one' },
      { id: 'b', content: 'one', tags: ['x', 'x'], metadata: { n: 1 } },
    ]
    expect(await engine.put({ entries })).toMatchObject({ ids: ['a', 'b'], created: 2, updated: 0, unchanged: 0 })
    clock.set(TEST_NOW + 1)
    const again = await engine.put({ entries: [entries[0] as PutInput, { id: 'b', content: 'two' }] })
    expect(again).toMatchObject({ ids: ['a', 'b'], created: 0, updated: 1, unchanged: 1 })
    expect(await engine.get({ id: 'a' })).toMatchObject({ updated_at: '2026-03-01T12:00:00.000Z' })
    expect(await engine.get({ id: 'b' })).toMatchObject({
      ...{ content: 'two', tags: [], metadata: {}, created_at: '2026-03-01T12:00:00.000Z' },
      ...{ updated_at: '2026-03-01T12:00:00.001Z', known_at: '2026-03-01T12:00:00.001Z' },
    })
  })

  it('gives ids of its own, and titles from the first line that says something', async () => {
    const engine = await openTestEngine()
    const contents = ['\n\n## The fox\n\ntext', '', 'x'.repeat(300)]
    const { ids } = await engine.put({ entries: contents.map(content => ({ content })) })
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const titles = await Promise.all(ids.map(async id => (await engine.get({ id })).title))
    expect(titles).toEqual(['The fox', '', `${'x'.repeat(119)}…`])
  })

  it.each<[string, PutInput]>([
    ['an id of half a character', { id: '\ud800', content: 'x' }],
    ['metadata with NUL', { content: 'x', metadata: { a: '\0' } }],
    ['validity that ends before it begins', { content: 'x', valid_from: '2026-01-02', valid_until: '2026-01-01' }],
    ['a day that does not exist', { content: 'x', created_at: '2026-02-30' }],
    ['federations without sharing', { content: 'x', federations: ['lab'] }],
    ['a federation of two words', { content: 'x', visibility: 'shared', federations: ['a b'] }],
  ])('with %s writes none of its entries', async (_, bad) => {
    const engine = await openTestEngine()
    const entries = [{ id: 'good', content: 'good' }, bad, { id: 'better', content: 'better' }]
    await expect(engine.put({ entries })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect((await engine.status()).entries).toBe(0)
    expect((await engine.query({ text: 'good', any: true })).items).toEqual([])
  })

  it('keeps to the entries of its viewer: an id is another’s for another', async () => {
    const engine = await openTestEngine()
    await engine.put({ entries: [{ id: 'a', content: 'of ann', visibility: 'public' }] }, ann)
    expect(await engine.put({ entries: [{ id: 'a', content: 'of bob' }] }, bob)).toMatchObject({
      created: 1,
      updated: 0,
    })
    expect(await engine.get({ id: 'a' }, ann)).toMatchObject({ content: 'of ann', holder: 'ann' })
    expect(await engine.get({ id: 'a' }, bob)).toMatchObject({ content: 'of bob', holder: 'bob' })
    expect(await engine.get({ id: 'a' }, { viewer: { id: 'cyd' } })).toMatchObject({ content: 'of ann' })
  })

  it('is found at once by words, also where it waits for vectors', async () => {
    const engine = await openTestEngine()
    await engine.put({ entries: [{ id: 'a', content: 'the quick fox' }], wait: true })
    expect((await engine.query({ text: 'fox' })).items.map(item => item.id)).toEqual(['a'])
    await engine.put({ entries: [{ id: 'a', content: 'a slow tortoise' }] })
    expect((await engine.query({ text: 'fox' })).items).toEqual([])
    expect((await engine.query({ text: 'tortoise' })).items.map(item => item.id)).toEqual(['a'])
  })
})

describe('delete', () => {
  it('takes all or none', async () => {
    const engine = await openTestEngine()
    await engine.put({ entries: ['a', 'b'].map(id => ({ id, content: `fox ${id}` })) })
    await expect(engine.delete({ ids: ['a', 'gone', 'b'] })).rejects.toMatchObject({ code: 'not_found' })
    expect((await engine.list({})).total).toBe(2)
    expect(await engine.delete({ ids: ['a', 'a', 'b'] })).toEqual({ deleted: 2 })
    expect((await engine.query({ text: 'fox', any: true })).items).toEqual([])
  })

  it('of another’s is denied where it is seen, and not found where it is not', async () => {
    const engine = await openTestEngine()
    await engine.put(
      {
        entries: [
          { id: 'seen', content: 'x', visibility: 'public' },
          { id: 'hidden', content: 'x' },
        ],
      },
      ann,
    )
    await expect(engine.delete({ ids: ['seen'] }, bob)).rejects.toMatchObject({ code: 'denied' })
    const [hidden, missing] = await Promise.all(
      ['hidden', 'missing'].map(id => engine.delete({ ids: [id] }, bob).catch((error: Error) => error.message)),
    )
    expect(String(hidden).replace('hidden', 'missing')).toBe(missing)
    expect(await engine.delete({ ids: ['hidden'] })).toEqual({ deleted: 1 })
  })
})
