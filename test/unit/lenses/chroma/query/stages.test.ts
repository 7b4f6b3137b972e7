/** The lens in the pipeline, as `querent query --lens chroma` asks it. */
import { describe, expect, it } from 'vitest'
import { recompute } from '../../../../../src/model/explanation.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

describe('a page of the lens', () => {
  const ask = { lens: 'chroma', text: TAGS.join(' ') }

  it('CQ-052: has the rows of a query in their order; the leaves of each explanation give its score', async () => {
    await using world = await openWorld()
    for (const hashtags of [FAR, NEAR, TAGS, TAGS]) await world.node({ hashtags })
    await world.chroma.query(NEAR, { k: 2 })
    world.now += 86_400
    const rows = await world.chroma.query(TAGS, { updateAccess: false, k: 10 })
    const page = await world.chroma.engine.query({ ...ask, explain: true, touch: false })
    expect(page.items.map(({ id }) => id)).toEqual(rows.map(({ entry_id }) => entry_id))
    for (const [at, item] of page.items.entries()) {
      expect(item.score).toBeCloseTo(rows[at]?.score ?? 0, 12)
      expect(recompute(item.explanation as never)).toBe(item.score)
      expect(Object.keys(item.components)).toEqual(['relevance', 'recency', 'strength'])
      for (const part of item.why.split(' + ')) expect(part).toMatch(/^(relevance|recency|strength) \d\.\d+$/)
    }
    expect(page.verdict).toBe('answered')
  })

  it('goes on behind a cursor, and takes conditions', async () => {
    await using world = await openWorld()
    const made = [
      await world.node({ label: 'a' }),
      await world.node({ hashtags: NEAR, metadata: { b: true } }),
      await world.node({ hashtags: FAR, label: 'c' }),
    ]
    const { engine } = world.chroma
    const first = await engine.query({ ...ask, limit: 2, touch: false })
    const second = await engine.query({ ...ask, limit: 2, touch: false, cursor: first.cursor as string })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made)
    const some = await engine.query({ ...ask, touch: false, filter: { metadata: { b: true } } })
    expect(some.items.map(({ id }) => id)).toEqual([made[1]])
  })

  it('CQ-066: counts as use in the memory of the nodes, unless told not to touch', async () => {
    await using world = await openWorld()
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
