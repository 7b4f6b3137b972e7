/** What a query of the whole lens answers, and what it leaves behind. */

import { describe, expect, vi } from 'vitest'
import { IndexSet } from '../../../../../src/engine/index-set.ts'
import type { QueryOptions, ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { ids, invalid, labels } from '../../../../support/chroma-answers.ts'
import { FAR, it, NEAR, NOW, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

describe('the answer', () => {
  it('CQ-010: detailed, it tells what the query was', async ({ world }) => {
    await world.node()
    const { query, warnings } = await world.chroma.queryDetailed(TAGS, { scoreWeights: null })
    expect(warnings).toEqual([])
    expect(query).toEqual({
      hashtags: [...TAGS],
      k: 5,
      max_distance: null,
      temporal_range: null,
      metadata_filters: null,
      include_rotten: false,
      score_weights: null,
      profile: 'default',
      update_access: true,
      color: world.chroma.computeNodeColor(TAGS),
      completed_hashtags: [],
      profile_state: null,
      now: NOW,
    })
  })

  it('CQ-074, CQ-075, CQ-076: rows are plain data of their own', async ({ world }) => {
    const id = await world.node({ metadata: { list: [1] } })
    const [row] = (await world.chroma.query(TAGS, {
      scoreWeights: { relevance: 0, recency: 0, strength: 1 },
    })) as [ResultRow]
    expect(row).toMatchObject({ score: 0, relevance: 1, recency: 1, strength_norm: 0, distance: 0, state: 'ACTIVE' })
    expect(JSON.parse(JSON.stringify(row))).toEqual(row)
    ;(row.metadata as { list: number[] }).list.push(2)
    ;(row.hashtags as string[]).pop()
    expect(await world.chroma.getNode(id)).toMatchObject({ metadata: { list: [1] }, hashtags: [...TAGS] })
    expect((await world.chroma.query(TAGS))[0]).toMatchObject({ metadata: { list: [1] }, hashtags: [...TAGS] })
    const bare = await world.node()
    expect((await world.chroma.getNode(bare))?.metadata).toBeNull()
  })

  it('CQ-077: columns of plug-ins stand in the row, null where unset; without the plug-in they do not', async () => {
    await using plain = await openWorld()
    await plain.node()
    expect((await plain.chroma.query(TAGS))[0]).not.toHaveProperty('paradigm')
    await using world = await openWorld({
      extensions: [{ name: 'b', version: '1', columns: { paradigm: 'text', size: 'real' } }],
    })
    await world.node({ pluginFields: { paradigm: 'x' } })
    expect((await world.chroma.query(TAGS))[0]).toMatchObject({ paradigm: 'x', size: null })
  })
})

it('a query of its own operations loads the index of points, and not that of words, also where it pauses', async ({
  world,
}) => {
  await world.node()
  const loaded = [vi.spyOn(IndexSet.prototype, 'getInSteps'), vi.spyOn(IndexSet.prototype, 'get')]
  // Each look at the clock finds 20 ms gone, so that the query pauses wherever it may.
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20))
  try {
    expect(await world.chroma.query(TAGS)).toHaveLength(1)
    const names = new Set(loaded.flatMap(({ mock }) => mock.calls.flat()))
    expect([...names]).toEqual(['points'])
  } finally {
    for (const spy of [...loaded, clock]) spy.mockRestore()
  }
})

describe('the order', () => {
  it('CQ-014: distances are Euclidean, and the limit is included', async ({ world }) => {
    await world.node({ hashtags: NEAR })
    const [row] = await world.chroma.query(TAGS)
    const [l, a, b] = world.chroma.computeNodeColor(TAGS)
    const distance = Math.hypot((row?.color_L ?? 0) - l, (row?.color_a ?? 0) - a, (row?.color_b ?? 0) - b)
    expect(row?.distance).toBeCloseTo(distance, 9)
    expect(await world.chroma.query(TAGS, { maxDistance: row?.distance ?? 0 })).toHaveLength(1)
    expect(await world.chroma.query(TAGS, { maxDistance: (row?.distance ?? 0) * (1 - 1e-12) })).toHaveLength(0)
    await world.node({ label: 'here' })
    expect(labels(await world.chroma.query(TAGS, { maxDistance: 0 }))).toEqual(['here'])
  })

  it('CQ-065: equal scores and distances are in the order of the ids by code unit', async ({ world }) => {
    const { nodes } = await (async () => {
      await world.node()
      return world.chroma.exportNodes()
    })()
    const [node] = nodes
    const given = ['b', 'B', 'a', '\u{1f600}', '\uffee', 'Z', '10', '9'].map(entry_id => ({ ...node, entry_id }))
    await world.chroma.deleteNode(node?.entry_id ?? '')
    await world.chroma.importNodes({ version: 1, nodes: given as never })
    const order = ['10', '9', 'B', 'Z', 'a', 'b', '\u{1f600}', '\uffee']
    expect(ids(await world.chroma.query(TAGS, { k: 8, updateAccess: false }))).toEqual(order)
    expect(ids(await world.chroma.query(TAGS, { k: 3, updateAccess: false }))).toEqual(order.slice(0, 3))
    expect(ids(await world.chroma.queryKnn(TAGS, { k: 3, updateAccess: false }))).toEqual(order.slice(0, 3))
  })
})

describe('only nodes', () => {
  it('CQ-057: a time range holds what was created or last accessed in it, ends included', async () => {
    await using timed = await openWorld()
    const at = async (created: number, accessed: number, label: string) => {
      timed.now = created
      const id = await timed.node({ label })
      const exported = (await timed.chroma.exportNodes()).nodes.find(node => node.entry_id === id)
      await timed.chroma.deleteNode(id)
      timed.now = 1000
      await timed.chroma.importNodes({ version: 1, nodes: [{ ...exported, last_accessed: accessed } as never] })
    }
    await at(200, 500, 'created at the end')
    await at(1, 100, 'accessed at the start')
    await at(99, 201, 'around it')
    const rows = await timed.chroma.query(TAGS, { temporalRange: [100, 200] })
    expect([...labels(rows)].sort()).toEqual(['accessed at the start', 'created at the end'])
    expect(await timed.chroma.query(TAGS, { temporalRange: [2, 50] })).toEqual([])
  })

  it('CQ-058: filters look into columns and metadata, CQ-007: and follow every change', async () => {
    const extension = { name: 'base', version: '1', columns: { paradigm: 'text' } } as const
    await using world = await openWorld({ extensions: [extension] })
    const a = await world.node({ metadata: { paradigm: 'meta', deep: { year: 2024 } } })
    const b = await world.node({ metadata: { paradigm: 'meta' }, pluginFields: { paradigm: 'column' } })
    const ask = async (metadataFilters: QueryOptions['metadataFilters']) =>
      new Set(ids(await world.chroma.query(TAGS, { metadataFilters, updateAccess: false })))
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([a]))
    expect(await ask({ paradigm: 'column' })).toEqual(new Set([b]))
    expect(await ask({ 'deep.year': 2024 })).toEqual(new Set([a]))
    expect(await ask({ mode_name: 'Adaptive' })).toEqual(new Set())
    expect(await ask({})).toEqual(new Set([a, b]))
    expect(await ask({ paradigm: 'meta', 'deep.year': { $gt: 2024 } })).toEqual(new Set())
    await world.chroma.writeField(b, 'paradigm', null)
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([a, b]))
    await world.chroma.updateNode(a, { metadata: null })
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([b]))
    const c = await world.node({ metadata: { paradigm: 'meta' } })
    await world.chroma.deleteNode(b)
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([c]))
    expect(await ask({ paradigm: null })).toEqual(new Set([a]))
  })

  it('CQ-073: nothing found is an empty list; a distance that emptied it is reported', async ({ world }) => {
    expect(await world.chroma.queryDetailed(TAGS, { maxDistance: 1 })).toMatchObject({ results: [], warnings: [] })
    const id = await world.node({ hashtags: FAR, metadata: { a: 1 } })
    await world.node({ hashtags: NEAR, metadata: { a: 2 } })
    const { distance } = (await world.chroma.query(TAGS, { metadataFilters: { a: 1 } }))[0] as ResultRow
    const { results, warnings } = await world.chroma.queryDetailed(TAGS, { maxDistance: 1, metadataFilters: { a: 1 } })
    expect(results).toEqual([])
    expect(warnings).toMatchObject([{ code: 'no_results_within_distance', details: { nearest_distance: distance } }])
    const none = await world.chroma.queryDetailed(TAGS, { maxDistance: 1, metadataFilters: { a: 3 } })
    expect(none).toMatchObject({ results: [], warnings: [] })
    expect((await world.chroma.getNode(id))?.access_count).toBe(1)
  })
})

describe('a page of the lens', () => {
  const ask = { lens: 'chroma', text: TAGS.join(' ') }

  it('CQ-066: counts as use in the memory of the nodes, unless touching is turned off', async ({ world }) => {
    const id = await world.node()
    await world.chroma.engine.query({ ...ask, touch: false })
    expect((await world.chroma.getNode(id))?.access_count).toBe(0)
    await world.chroma.engine.query(ask)
    expect((await world.chroma.getNode(id))?.access_count).toBe(1)
  })

  it('says when there is nothing', async () => {
    await using world = await openWorld({ queryConfig: { defaultMaxDistance: 1 } })
    await world.node({ hashtags: FAR })
    const page = await world.chroma.engine.query(ask)
    expect(page).toMatchObject({ items: [], verdict: 'nothing_relevant' })
    expect(page.reason).toMatch(/distance of 1/)
  })
})

describe('many queries', () => {
  it('CQ-101: the first wrong item refuses all, with its own error', async ({ world }) => {
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
})

describe('the nearest', () => {
  it('CQ-130: come by distance, with the rows and accesses of a query', async ({ world }) => {
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
  it('meet only what they may see, and each has a memory of its own', async ({ world }) => {
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

  it('QE-019: assign hashtags only where the owner lets them; all others learn whom to ask', async () => {
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
