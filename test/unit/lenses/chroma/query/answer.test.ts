/** What a query of the whole lens answers, and what it leaves behind. */
import { describe, expect, it } from 'vitest'
import type { ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { ids } from '../../../../support/chroma-answers.ts'
import { FAR, NOW, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('the answer', () => {
  it('CQ-010: detailed, it tells what the query was', async () => {
    await using world = await openWorld()
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

  it('CQ-011: without access updates, asking leaves no trace', async () => {
    await using world = await openWorld()
    const id = await world.node()
    world.now += DAY
    expect(await world.chroma.query(TAGS, { updateAccess: false })).toHaveLength(1)
    expect(await world.chroma.getNode(id)).toMatchObject({ access_count: 0, last_accessed: NOW })
  })

  it('CQ-070: rows show the state before the access, the store the one after', async () => {
    await using world = await openWorld()
    const id = await world.node()
    world.now += 3 * DAY
    const [row] = await world.chroma.query(TAGS)
    expect(row).toMatchObject({ last_accessed: NOW, access_count: 0, strength_raw: 0 })
    expect(await world.chroma.getNode(id)).toMatchObject({
      last_accessed: world.now,
      access_count: 1,
      strength_raw: 0.1,
    })
  })

  it('CQ-066: only what was returned counts as accessed', async () => {
    await using world = await openWorld()
    const near = await world.node()
    const far = await world.node({ hashtags: FAR })
    expect(ids(await world.chroma.query(TAGS, { k: 1 }))).toEqual([near])
    expect((await world.chroma.getNode(near))?.access_count).toBe(1)
    expect((await world.chroma.getNode(far))?.access_count).toBe(0)
  })

  it('CQ-071: two queries at once add two hits', async () => {
    await using world = await openWorld()
    const id = await world.node()
    await Promise.all([world.chroma.query(TAGS), world.chroma.query(TAGS)])
    expect((await world.chroma.getNode(id))?.access_count).toBe(2)
  })

  it('CQ-074, CQ-075, CQ-076: rows are plain data of their own', async () => {
    await using world = await openWorld()
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
