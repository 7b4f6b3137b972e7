/** By what a query of the whole lens orders nodes. */
import { describe, expect, it } from 'vitest'
import { ids, invalid, labels } from '../../../../support/chroma-answers.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('the order', () => {
  it('CQ-013: fewer than k are all there are', async () => {
    await using world = await openWorld()
    await world.node()
    expect(await world.chroma.query(TAGS, { k: 1_000_000 })).toHaveLength(1)
  })

  it('CQ-014: distances are Euclidean, and the limit is included', async () => {
    await using world = await openWorld()
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

  it('CQ-053: the weights are those of the call, the configuration, or the mode of each node', async () => {
    await using world = await openWorld()
    for (const modeName of ['Sparse', 'Adaptive', 'Spacey', 'Eidetic'] as const)
      await world.node({ modeName, label: modeName })
    const scores = new Map(
      (await world.chroma.query(TAGS, { updateAccess: false })).map(row => [row.mode_name, row.score]),
    )
    expect(scores.get('Sparse')).toBeCloseTo(0.9, 12)
    expect(scores.get('Adaptive')).toBeCloseTo(0.8, 12)
    expect(scores.get('Spacey')).toBeCloseTo(0.7, 12)
    expect(scores.get('Eidetic')).toBeCloseTo(0.6, 12)
    const own = await world.chroma.query(TAGS, { scoreWeights: { relevance: 0.5, recency: 0.25, strength: 0.25 } })
    for (const row of own) expect(row.score).toBeCloseTo(0.75, 12)
  })

  it('CQ-053: by relevance alone, the order is that of the distance', async () => {
    await using world = await openWorld({
      queryConfig: { defaultScoreWeights: { relevance: 1, recency: 0, strength: 0 } },
    })
    for (const hashtags of [FAR, TAGS, NEAR]) await world.node({ hashtags, label: String(hashtags) })
    const rows = await world.chroma.query(TAGS)
    expect(labels(rows)).toEqual([TAGS, NEAR, FAR].map(String))
    for (const row of rows) expect(row.score).toBe(row.relevance)
  })

  it('CQ-054: with memory off, relevance is the score and use adds no strength', async () => {
    await using world = await openWorld({ memoryConfig: { enabled: false } })
    const id = await world.node({ hashtags: NEAR })
    const rotten = await world.node()
    await world.chroma.markRotten(rotten)
    world.now += DAY
    const weights = { scoreWeights: { relevance: 0, recency: 1, strength: 0 } }
    const rows = await world.chroma.query(TAGS, weights)
    expect(ids(rows)).toEqual([id])
    expect(rows[0]?.score).toBe(rows[0]?.relevance)
    expect(await world.chroma.getNode(id)).toMatchObject({ strength_raw: 0, access_count: 1, last_accessed: world.now })
    const wrong = { scoreWeights: { relevance: 2, recency: 0, strength: 0 } }
    await expect(world.chroma.query(TAGS, wrong)).rejects.toMatchObject(invalid('score_weights'))
  })

  it('CQ-065: equal scores and distances are in the order of the ids by code unit', async () => {
    await using world = await openWorld()
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
