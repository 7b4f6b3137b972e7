/** What a query of the whole lens takes, and the one reading of the clock that serves all of it. */
import { describe, expect, it } from 'vitest'
import type { QueryOptions } from '../../../../../src/lenses/chroma/model.ts'
import { QueryProfile } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { ids, invalid } from '../../../../support/chroma-answers.ts'
import { FAR, NEAR, NOW, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('the input', () => {
  it('CQ-001: options are camelCase, rows and the query told back are snake_case', async () => {
    await using world = await openWorld()
    await world.node()
    const { results, query } = await world.chroma.queryDetailed(TAGS, { maxDistance: 20 })
    expect(query.max_distance).toBe(20)
    expect(Object.keys(results[0] ?? {})).toEqual([
      ...['entry_id', 'node_id', 'color_L', 'color_a', 'color_b', 'hashtags', 'label', 'content', 'metadata'],
      ...['created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'mode_name'],
      ...['access_count', 'decay_enabled', 'state', 'distance', 'relevance', 'recency', 'strength_norm', 'score'],
    ])
  })

  it.each([[null], [undefined], [7], [{}]])('CQ-002: %j is neither hashtags nor a text', async input => {
    await using world = await openWorld()
    await expect(world.chroma.query(input as never)).rejects.toMatchObject(invalid('hashtags'))
  })

  it('CQ-002: a list meets no parser, a text that of the profile', async () => {
    const texts: string[] = []
    class Spy extends QueryProfile {
      override parseInput(text: string) {
        texts.push(text)
        return { hashtags: TAGS }
      }
    }
    await using world = await openWorld({ profiles: { spy: new Spy() } })
    const id = await world.node()
    expect(ids(await world.chroma.query(TAGS, { profile: 'spy' }))).toEqual([id])
    expect(texts).toEqual([])
    expect(ids(await world.chroma.query('a text', { profile: 'spy' }))).toEqual([id])
    expect(texts).toEqual(['a text'])
  })

  it('CQ-004, CQ-094: configured defaults hold where the call says nothing, CQ-005: and null lifts them', async () => {
    await using world = await openWorld({ queryConfig: { defaultK: 1, defaultMaxDistance: 5 } })
    await world.node()
    await world.node({ hashtags: FAR })
    const { query, results } = await world.chroma.queryDetailed(TAGS)
    expect(query).toMatchObject({ k: 1, max_distance: 5 })
    expect(results).toHaveLength(1)
    expect((await world.chroma.queryDetailed(TAGS, { maxDistance: null })).query.max_distance).toBeNull()
    expect(await world.chroma.query(TAGS, { maxDistance: null, k: 9 })).toHaveLength(2)
    expect((await world.chroma.queryDetailed(TAGS, { k: null })).query.k).toBe(1)
  })

  it('CQ-006, CQ-040: what is refused changes nothing', async () => {
    await using world = await openWorld()
    const id = await world.node()
    // The first query makes the secret of the store's cursors.
    await world.chroma.query(TAGS, { updateAccess: false })
    const before = await world.chroma.getNode(id)
    const version = world.chroma.engine.host('chroma').store.version()
    const refused = world.chroma
    await expect(refused.query(TAGS, { maxdistance: 5 } as QueryOptions)).rejects.toMatchObject(invalid('maxdistance'))
    await expect(refused.query(TAGS, { k: 0 })).rejects.toMatchObject(invalid('k'))
    await expect(refused.query(['#c0'])).rejects.toMatchObject({ code: 'invalid_hashtags' })
    await expect(refused.query([...TAGS, '#nobody'])).rejects.toMatchObject({ code: 'unknown_hashtag' })
    await expect(refused.query([...TAGS, 7] as never)).rejects.toMatchObject(invalid('hashtags'))
    await expect(refused.batchQuery([{ hashtags: TAGS }, { hashtags: ['#c0'] }])).rejects.toThrow()
    await expect(refused.store({ hashtags: ['#c0'], label: '', content: '' })).rejects.toThrow()
    expect(await world.chroma.getNode(id)).toEqual(before)
    expect(world.chroma.engine.host('chroma').store.version()).toBe(version)
  })

  it('CQ-012: tags equal when normalised count once', async () => {
    await using world = await openWorld()
    const spelt = TAGS.map((tag, at) => (at % 2 === 0 ? ` #${tag.toUpperCase()} ` : tag.slice(1)))
    expect((await world.chroma.queryDetailed([...spelt, ...TAGS])).query.hashtags).toEqual([...TAGS])
    const seven = [...TAGS.slice(0, 7), '#C0']
    await expect(world.chroma.query(seven)).rejects.toMatchObject({
      code: 'invalid_hashtags',
      details: { violations: expect.arrayContaining(['total']) },
    })
  })

  it('CQ-018: a profile that is not registered is told before any work', async () => {
    await using world = await openWorld()
    await expect(world.chroma.query(['#nonsense'], { profile: 'nobody' })).rejects.toMatchObject({
      name: 'QueryError',
      code: 'unknown_profile',
    })
  })
})

describe('one reading of the clock', () => {
  it('CQ-009: serves parsing, scores and accesses, and is floored', async () => {
    await using world = await openWorld()
    const id = await world.node()
    world.readings = 0
    world.now = NOW + 3 * DAY + 0.9
    const { query, results } = await world.chroma.queryDetailed(TAGS)
    expect(world.readings).toBe(1)
    expect(query.now).toBe(NOW + 3 * DAY)
    expect(results[0]?.recency).toBeCloseTo(Math.exp(-1), 15)
    expect((await world.chroma.getNode(id))?.last_accessed).toBe(NOW + 3 * DAY)
  })

  it('CQ-009: is all a batch, a text and the nearest need', async () => {
    await using world = await openWorld()
    await world.node()
    const readingsOf = async (ask: () => Promise<unknown>) => {
      world.readings = 0
      await ask()
      return world.readings
    }
    expect(await readingsOf(() => world.chroma.batchQuery([{ hashtags: TAGS }, { hashtags: TAGS }]))).toBe(1)
    expect(await readingsOf(() => world.chroma.query(`recent ${TAGS.join(' ')}`))).toBe(1)
    expect(await readingsOf(() => world.chroma.queryKnn(TAGS))).toBe(1)
  })

  it('CQ-008: the same question gets the same answer', async () => {
    await using world = await openWorld()
    for (const hashtags of [TAGS, NEAR, FAR, TAGS]) await world.node({ hashtags })
    const ask = (tags: readonly string[]) => world.chroma.queryDetailed(tags, { updateAccess: false, k: 9 })
    expect(await ask([...TAGS].reverse())).toEqual(await ask(TAGS))
    expect((await ask(TAGS)).query.color).toEqual(world.chroma.computeNodeColor([...TAGS].reverse()))
  })
})
