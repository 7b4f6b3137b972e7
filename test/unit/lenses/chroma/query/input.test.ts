/** What a query of the whole lens takes, and the one reading of the clock that serves all of it. */

import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { checkCamel } from '../../../../../src/lenses/chroma/errors.ts'
import { type QueryOptions, queryOptions } from '../../../../../src/lenses/chroma/model.ts'
import { settle } from '../../../../../src/lenses/chroma/query/question.ts'
import { invalid } from '../../../../support/chroma-answers.ts'
import { FAR, it, NOW, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('the input', () => {
  it('CQ-001: options are camelCase, rows and the returned query are snake_case', async ({ world }) => {
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

  it('CQ-006, CQ-040: what is refused changes nothing', async ({ world }) => {
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

  it('CQ-018: an unregistered profile is reported before any work', async ({ world }) => {
    await expect(world.chroma.query(['#nonsense'], { profile: 'nobody' })).rejects.toMatchObject({
      name: 'QueryError',
      code: 'unknown_profile',
    })
  })
})

describe('one reading of the clock', () => {
  it('CQ-009: serves parsing, scores and accesses, and is floored', async ({ world }) => {
    const id = await world.node()
    world.readings = 0
    world.now = NOW + 3 * DAY + 0.9
    const { query, results } = await world.chroma.queryDetailed(TAGS)
    expect(world.readings).toBe(1)
    expect(query.now).toBe(NOW + 3 * DAY)
    expect(results[0]?.recency).toBeCloseTo(Math.exp(-1), 15)
    expect((await world.chroma.getNode(id))?.last_accessed).toBe(NOW + 3 * DAY)
  })

  it('CQ-009: is all a batch, a text and the nearest need', async ({ world }) => {
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
})

const checkOptions = (given: unknown) => checkCamel(queryOptions, given, 'options')

const BUILT_IN = { defaultK: 5, defaultMaxDistance: null, includeRotten: false, defaultScoreWeights: null }
const NONE = { maxDistance: null, temporalRange: null, metadataFilters: null, scoreWeights: null }
const WEIGHTS = { relevance: 0.7, recency: 0.2, strength: 0.1 }

const refused = (parameter: string) =>
  expect.objectContaining({
    name: 'ValidationError',
    code: 'invalid_parameter',
    details: expect.objectContaining({ parameter }),
  })

describe('where a parameter comes from', () => {
  it('CQ-003: nothing given, the built-in values', () => {
    expect(settle({}, {}, BUILT_IN)).toEqual({ ...NONE, k: 5, includeRotten: false })
  })

  it('CQ-004: the call beats the profile, the profile the configuration', () => {
    const configured = { ...BUILT_IN, defaultK: 10 }
    expect(settle({}, {}, configured).k).toBe(10)
    expect(settle({}, { k: 7 }, configured).k).toBe(7)
    expect(settle({ k: 3 }, { k: 7 }, configured).k).toBe(3)
    expect(
      settle({ include_rotten: false }, { includeRotten: true }, { ...BUILT_IN, includeRotten: true }).includeRotten,
    ).toBe(false)
  })

  it('CQ-005: null lifts a limit, and is absent for k, include_rotten and profile', () => {
    const configured = { defaultK: 9, defaultMaxDistance: 5, includeRotten: true, defaultScoreWeights: WEIGHTS }
    const nothing = {
      k: null,
      max_distance: null,
      include_rotten: null,
      score_weights: null,
      temporal_range: null,
      metadata_filters: null,
    }
    const parsed = { temporalRange: [1, 2] as const, metadataFilters: { a: 1 } }
    expect(settle(nothing, parsed, configured)).toEqual({ ...NONE, k: 9, includeRotten: true })
    expect(settle({}, parsed, configured)).toEqual({
      ...{ k: 9, maxDistance: 5, includeRotten: true, scoreWeights: WEIGHTS },
      ...parsed,
    })
  })
})

describe('an option', () => {
  it('CQ-006: that is unknown is named', () => {
    expect(() => checkOptions({ maxdistance: 5 })).toThrow(refused('maxdistance'))
    expect(() => checkOptions({ max_distance: 5 })).toThrow(refused('max_distance'))
    expect(() => checkOptions('k=5')).toThrow(refused('options'))
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', true, 5n])('CQ-013: k %s is refused', k => {
    expect(() => checkOptions({ k })).toThrow(refused('k'))
  })

  it('CQ-013: k has no upper limit', () => {
    expect(checkOptions({ k: 1_000_000_000 }).k).toBe(1_000_000_000)
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5', true])('CQ-014: max_distance %s is refused', maxDistance => {
    expect(() => checkOptions({ maxDistance })).toThrow(refused('max_distance'))
  })

  it.each([[[1]], [[2, 1]], [[1.5, 2]], ['1,2'], [[1, 2, 3]], [[Number.NaN, 2]], [['1', '2']], [{}]])(
    'CQ-015: temporal_range %j is refused',
    temporalRange => {
      expect(() => checkOptions({ temporalRange })).toThrow(refused('temporal_range'))
    },
  )

  it('CQ-015, CQ-060: lists with holes are refused', () => {
    const holes = new Array(2)
    expect(() => checkOptions({ temporalRange: holes })).toThrow(refused('temporal_range'))
    expect(() => checkOptions({ metadataFilters: { year: holes } })).toThrow(refused('metadata_filters.year'))
  })

  it.each<[object | string]>([
    [{ relevance: 0.7, recency: 0.2, strength: 0.2 }],
    [{ relevance: 0.7, recency: 0.3 }],
    [{ ...WEIGHTS, other: 0 }],
    [{ relevance: 1.1, recency: -0.1, strength: 0 }],
    [{ relevance: Number.NaN, recency: 0, strength: 1 }],
    [{ relevance: '1', recency: 0, strength: 0 }],
    ['relevance'],
  ])('CQ-017: score_weights %j are refused', scoreWeights => {
    expect(() => checkOptions({ scoreWeights })).toThrow(refused('score_weights'))
  })

  it('CQ-017: weights that sum to 1 but for rounding are taken', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }), (a, b) => {
        const relevance = a / 200
        const recency = b / 200
        expect(() =>
          checkOptions({ scoreWeights: { relevance, recency, strength: 1 - relevance - recency } }),
        ).not.toThrow()
      }),
    )
    expect(checkOptions({ scoreWeights: WEIGHTS })).toEqual({ scoreWeights: WEIGHTS })
  })

  it.each<[keyof QueryOptions, string]>([
    ['includeRotten', 'include_rotten'],
    ['updateAccess', 'update_access'],
    ['completeHashtags', 'complete_hashtags'],
    ['fallbackToDefault', 'fallback_to_default'],
  ])('CQ-056: %s is true or false', (option, parameter) => {
    expect(() => checkOptions({ [option]: 1 })).toThrow(refused(parameter))
    expect(() => checkOptions({ profile: 7 })).toThrow(refused('profile'))
  })
})
