/** Many queries at once, the nearest, and several viewers, through the whole lens. */
import { describe, expect, it } from 'vitest'
import type { ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { ids, invalid } from '../../../../support/chroma-answers.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('many queries', () => {
  it('CQ-101: answers come in the order of the items', async () => {
    await using world = await openWorld()
    expect(await world.chroma.batchQuery([])).toEqual([])
    const near = await world.node()
    const far = await world.node({ hashtags: FAR })
    const answers = await world.chroma.batchQuery([
      { hashtags: FAR, k: 1 },
      { hashtags: TAGS, k: 1 },
      { input: TAGS.join(' '), k: 2 },
    ])
    expect(answers.map(ids)).toEqual([[far], [near], [near, far]])
  })

  it('CQ-101: the first wrong item refuses all, with its own error', async () => {
    await using world = await openWorld()
    const id = await world.node()
    const items = [{ hashtags: TAGS }, { hashtags: [...TAGS, '#x'] }, { hashtags: TAGS, k: 0 }]
    await expect(world.chroma.batchQuery(items)).rejects.toMatchObject({
      name: 'UnknownHashtagError',
      code: 'unknown_hashtag',
      details: { batch_index: 1, hashtags: ['#x'] },
    })
    for (const item of [{}, { hashtags: 'x' }, { input: TAGS }, { hashtags: TAGS, input: 'x' }, null]) {
      await expect(world.chroma.batchQuery([item as never])).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { batch_index: 0 },
      })
    }
    await expect(world.chroma.batchQuery('x' as never)).rejects.toMatchObject(invalid('queries'))
    expect((await world.chroma.getNode(id))?.access_count).toBe(0)
  })

  it('CQ-102: all see the state before, and their hits add up in order', async () => {
    await using world = await openWorld()
    const id = await world.node()
    world.now += 3 * DAY
    const [[one], [two]] = (await world.chroma.batchQuery([{ hashtags: TAGS }, { hashtags: TAGS }])) as [
      ResultRow[],
      ResultRow[],
    ]
    expect(two).toEqual(one)
    // The first hit finds recency 1/e (no bonus), the second recency 1 (doubled).
    expect(await world.chroma.getNode(id)).toMatchObject({ access_count: 2, strength_raw: 0.1 + 0.2 })
  })
})

describe('the nearest', () => {
  it('CQ-130: come by distance, with the rows and accesses of a query', async () => {
    await using world = await openWorld()
    const far = await world.node({ hashtags: FAR })
    for (let at = 0; at < 3; at++) await world.chroma.query(FAR, { k: 1 })
    const [near, here] = [await world.node({ hashtags: NEAR }), await world.node()]
    const rows = await world.chroma.queryKnn(TAGS)
    expect(ids(rows)).toEqual([here, near, far])
    const same = await world.chroma.query(TAGS, { updateAccess: false })
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(same[0] ?? {}))
    expect((await world.chroma.getNode(here))?.access_count).toBe(1)
    expect(ids(await world.chroma.queryKnn(TAGS, { k: 1 }))).toEqual([here])
    expect(ids(await world.chroma.queryKnn(TAGS, { maxDistance: 0 }))).toEqual([here])
    await world.chroma.markRotten(here)
    expect(ids(await world.chroma.queryKnn(TAGS))).toEqual([near, far])
    expect(await world.chroma.queryKnn(TAGS, { includeRotten: true })).toHaveLength(3)
    await expect(world.chroma.queryKnn(TAGS, { profile: 'x' } as never)).rejects.toMatchObject(invalid('profile'))
    await expect(world.chroma.queryKnn('m0' as never)).rejects.toMatchObject({
      details: { parameter: 'hashtags', value: '"m0"', expected: 'a list of hashtags' },
    })
  })
})

describe('viewers', () => {
  it('meet only what they may see, and each has a memory of its own', async () => {
    await using world = await openWorld()
    const ann = world.chroma.as({ id: 'ann' })
    const bob = world.chroma.as({ id: 'bob' })
    const node = { hashtags: TAGS, label: 'x', content: 'x' }
    const hidden = await ann.store(node)
    const open = await ann.store({ ...node, visibility: 'public' })
    expect(ids(await bob.query(TAGS))).toEqual([open])
    expect(await bob.getNode(hidden)).toBeNull()
    expect([
      await bob.updateNode(open, { label: 'y' }),
      await bob.deleteNode(open),
      await bob.updateNode(hidden, { label: 'y' }),
    ]).toEqual([false, false, false])
    expect(await ann.getNode(open)).toMatchObject({ label: 'x', access_count: 0 })
    expect(await bob.getNode(open)).toMatchObject({ access_count: 1 })
    expect(await bob.markRotten(open)).toBe(true)
    expect([await bob.query(TAGS), (await ann.query(TAGS)).length]).toEqual([[], 2])
    await expect(bob.unassignHashtag('#c2')).rejects.toMatchObject({ code: 'denied' })
    await expect(bob.migrateHashtag('#c2', { zone: 'core' })).rejects.toMatchObject({ code: 'denied' })
    expect((await world.chroma.query(TAGS)).length).toBe(2)
  })

  it('QE-019: assign hashtags only where the owner lets them; all others are told whom to ask', async () => {
    await using world = await openWorld({ vocabularyConfig: { editors: ['ann'] } })
    const [ann, bob] = [world.chroma.as({ id: 'ann' }), world.chroma.as({ id: 'bob' })]
    const before = bob.listHashtags()
    const refused = { code: 'denied', message: expect.stringContaining('lenses.chroma.vocabulary.editors') }
    await expect(bob.assignHashtag('#new', { zone: 'core' })).rejects.toMatchObject(refused)
    await expect(bob.assignHashtags([{ hashtag: '#new', zone: 'core' }])).rejects.toMatchObject(refused)
    await expect(bob.assignStarter()).rejects.toMatchObject(refused)
    expect(bob.listHashtags()).toEqual(before)
    await ann.assignHashtag('#new', { zone: 'core' })
    expect(bob.listHashtags()).toHaveLength(before.length + 1)
    await expect(ann.unassignHashtag('#new')).rejects.toMatchObject({ code: 'denied' })
  })
})
