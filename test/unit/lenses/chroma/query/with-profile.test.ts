/** Queries of the whole lens with profiles of their own. */
import { describe, expect, it } from 'vitest'
import type { ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { recompute } from '../../../../../src/model/explanation.ts'
import { ids } from '../../../../support/chroma-answers.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

describe('a profile', () => {
  it('CQ-055, CQ-072: post-processing comes last: what it drops was used all the same', async () => {
    const seen: number[] = []
    await using world = await openWorld({
      profiles: {
        drop: {
          parseInput: () => ({ hashtags: TAGS }),
          postProcess: rows => {
            seen.push(rows.length)
            return rows.slice(1).reverse()
          },
        },
      },
    })
    const made = [await world.node(), await world.node({ hashtags: NEAR }), await world.node({ hashtags: FAR })]
    expect(ids(await world.chroma.query(TAGS, { profile: 'drop' }))).toEqual([made[2], made[1]])
    expect(seen).toEqual([3])
    expect((await world.chroma.getNode(made[0] as string))?.access_count).toBe(1)
  })

  it('CQ-007: hooks work on copies', async () => {
    const spoil = (row: ResultRow) => Object.assign(row, { label: 'spoilt', color_L: 0, hashtags: [] })
    await using world = await openWorld({
      profiles: {
        spoiler: {
          parseInput: () => ({ hashtags: TAGS }),
          customScoring: (entry, query) => {
            spoil(entry)
            ;(query.color as unknown as number[])[0] = 0
            return 1
          },
          postProcess: rows => [...rows.map(spoil)],
        },
      },
    })
    const id = await world.node()
    const before = world.chroma.computeNodeColor(TAGS)
    await world.chroma.query(TAGS, { profile: 'spoiler' })
    expect(world.chroma.computeNodeColor(TAGS)).toEqual(before)
    expect(await world.chroma.getNode(id)).toMatchObject({ label: 'A node', color_L: before[0] })
    expect((await world.chroma.query(TAGS))[0]).toMatchObject({ label: 'A node', distance: 0 })
  })

  it('CQ-080, CQ-081: its own score is blended before ranking, also for lists', async () => {
    await using world = await openWorld({
      profiles: {
        likes: { parseInput: () => ({ hashtags: TAGS }), customScoring: ({ label }) => (label === 'liked' ? 1 : 0) },
      },
    })
    await world.node({ label: 'plain' })
    await world.node({ label: 'liked', hashtags: NEAR })
    const [first, second] = (await world.chroma.query(TAGS, { profile: 'likes' })) as [ResultRow, ResultRow]
    expect([first.label, second.label]).toEqual(['liked', 'plain'])
    expect(second.score).toBeCloseTo(0.7 * 0.8, 12)
    expect(first.score).toBeCloseTo(0.7 * (0.5 * first.relevance + 0.3) + 0.3, 12)
  })

  it.each<[string, () => unknown, number]>([
    ['1', () => 1, 0.86],
    ['more than 1', () => 7, 0.86],
    ['less than 0', () => -7, 0.56],
    ['a promise', async () => 0.5, 0.71],
  ])('CQ-080: a score of %s counts three tenths, from 0 to 1', async (_, customScoring, score) => {
    await using world = await openWorld({
      profiles: { own: { parseInput: () => ({ hashtags: TAGS }), customScoring } as never },
    })
    await world.node()
    const { results, warnings } = await world.chroma.queryDetailed(TAGS, { profile: 'own' })
    expect(results[0]?.score).toBeCloseTo(score, 12)
    expect(warnings).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['NaN', () => Number.NaN],
    ['text', () => '1'],
    ['nothing', () => undefined],
    [
      'an error',
      () => {
        throw new Error('no')
      },
    ],
    ['a rejection', () => Promise.reject(new Error('no'))],
  ])('CQ-080: %s leaves the memory score, with one warning and one call', async (_, hook) => {
    let calls = 0
    const customScoring = () => {
      calls += 1
      return hook()
    }
    await using world = await openWorld({
      profiles: { own: { parseInput: () => ({ hashtags: TAGS }), customScoring } as never },
    })
    const id = await world.node()
    const { results, warnings } = await world.chroma.queryDetailed(TAGS, { profile: 'own' })
    expect(results[0]?.score).toBeCloseTo(0.8, 12)
    expect(calls).toBe(1)
    expect(warnings).toMatchObject([
      { code: 'custom_scoring_failed', details: { profile: 'own', entries: [id], failed: 1 } },
    ])
  })

  it('CQ-080: pages, reasons and comparisons have its own score', async () => {
    await using world = await openWorld({
      profiles: {
        likes: { parseInput: () => ({ hashtags: TAGS }), customScoring: ({ label }) => (label === 'liked' ? 1 : 0) },
      },
    })
    const made = [
      await world.node(),
      await world.node({ label: 'liked', hashtags: NEAR }),
      await world.node({ hashtags: FAR }),
    ]
    const asked = { lens: 'chroma', text: '', options: { hashtags: TAGS, profile: 'likes' }, touch: false }
    const rows = await world.chroma.query(TAGS, { profile: 'likes', updateAccess: false })
    const first = await world.chroma.engine.query({ ...asked, limit: 1, explain: true })
    const second = await world.chroma.engine.query({ ...asked, limit: 5, cursor: first.cursor as string })
    const items = [...first.items, ...second.items]
    expect(items.map(({ id, score }) => [id, score])).toEqual(rows.map(({ entry_id, score }) => [entry_id, score]))
    expect(recompute(first.items[0]?.explanation as never)).toBeCloseTo(first.items[0]?.score ?? 0, 12)
    expect(first.items[0]?.components['profile']).toBeCloseTo(0.3, 12)
    const { over } = await world.chroma.engine.explain({ query: asked, id: made[1] as string, over: made[0] as string })
    expect(over?.by_component['profile']).toBeCloseTo(0.3, 12)
  })

  it('CQ-099: its own score can bring up a node from behind any number of others', async () => {
    await using world = await openWorld({
      profiles: {
        likes: {
          parseInput: () => ({ hashtags: TAGS }),
          customScoring: async ({ label }) => (label === 'liked' ? 1 : 0),
        },
      },
    })
    for (let at = 0; at < 30; at++) await world.node()
    const liked = await world.node({ label: 'liked', hashtags: NEAR })
    expect(ids(await world.chroma.query(TAGS, { profile: 'likes', k: 1 }))).toEqual([liked])
    expect((await world.chroma.getNode(liked))?.access_count).toBe(1)
  })
})
