import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../../../src/lenses/chroma/errors.ts'
import { resolveSettings } from '../../../../src/lenses/chroma/settings.ts'
import { openWorld } from '../../../support/open-chroma-world.ts'

const wrongKey = (key: string) =>
  expect.objectContaining({ name: 'ConfigurationError', details: expect.objectContaining({ key }) })

describe('the settings', () => {
  it('CQ-003, CQ-097: without any are the built-in ones', () => {
    expect(resolveSettings()).toEqual({
      query: {
        defaultK: 5,
        defaultMaxDistance: null,
        defaultScoreWeights: null,
        defaultProfile: 'default',
        includeRotten: false,
        completeHashtags: true,
      },
      memory: { enabled: true, defaultMode: 'Adaptive', decayEnabled: true, accessUpdates: 'immediate' },
      vocabulary: { editors: [] },
      storage: { cacheSizeMb: 64, walMode: true, dbPath: null },
    })
  })

  it('CQ-096: the constructor beats the environment, the environment the file', () => {
    const file = { query: { default_k: 6, include_rotten: true }, memory: { enabled: false } }
    const environment = { CHROMA_QUERY_DEFAULT_K: '7', CHROMA_MEMORY_DEFAULT_MODE: 'Spacey' }
    expect(resolveSettings({ file }).query).toMatchObject({ defaultK: 6, includeRotten: true })
    expect(resolveSettings({ file, environment }).query).toMatchObject({ defaultK: 7, includeRotten: true })
    const all = resolveSettings({ file, environment, constructed: { queryConfig: { defaultK: 8 } } })
    expect(all.query.defaultK).toBe(8)
    expect(all.memory).toMatchObject({ enabled: false, defaultMode: 'Spacey' })
  })

  it('CQ-096: variables are read as the type of their key', () => {
    const environment = {
      CHROMA_QUERY_DEFAULT_MAX_DISTANCE: 'null',
      CHROMA_QUERY_DEFAULT_SCORE_WEIGHTS: '{"relevance":1,"recency":0,"strength":0}',
      CHROMA_QUERY_INCLUDE_ROTTEN: 'true',
      CHROMA_STORAGE_DB_PATH: ':memory:',
    }
    const { query, storage } = resolveSettings({ environment })
    expect(query).toMatchObject({ defaultMaxDistance: null, includeRotten: true })
    expect(query.defaultScoreWeights).toEqual({ relevance: 1, recency: 0, strength: 0 })
    expect(storage.dbPath).toBe(':memory:')
  })

  it.each<[string, object]>([
    ['CHROMA_QUERY_DEFAULT_K', { CHROMA_QUERY_DEFAULT_K: 'many' }],
    ['CHROMA_QUERY_DEFAULT_K', { CHROMA_QUERY_DEFAULT_K: '0' }],
    ['CHROMA_QUERY_INCLUDE_ROTTEN', { CHROMA_QUERY_INCLUDE_ROTTEN: 'yes' }],
    ['CHROMA_QUERY_EPSILON', { CHROMA_QUERY_EPSILON: '0.1' }],
  ])('CQ-096: %s is refused when it cannot be read', (key, environment) => {
    expect(() => resolveSettings({ environment: environment as Record<string, string> })).toThrow(wrongKey(key))
  })

  it('CQ-096: variables of other programs that begin so are none of ours', () => {
    expect(resolveSettings({ environment: { CHROMA_SERVER_HOST: 'localhost' } })).toEqual(resolveSettings())
  })

  it.each<[string, object]>([
    ['query.default_k', { query: { default_k: 0 } }],
    ['query.default_max_distance', { query: { default_max_distance: -1 } }],
    ['query.default_score_weights', { query: { default_score_weights: { relevance: 1 } } }],
    ['query.defaultK', { query: { defaultK: 5 } }],
    ['query.epsilon', { query: { epsilon: 0.1 } }],
    ['memory.sigma', { memory: { sigma: 20 } }],
    ['memory.default_mode', { memory: { default_mode: 'adaptive' } }],
    ['memory.enabled', { memory: { enabled: 1 } }],
    ['storage.cache_size_mb', { storage: { cache_size_mb: 7 } }],
    ['storage.cache_size_mb', { storage: { cache_size_mb: 1025 } }],
    ['storage.db_path', { storage: { db_path: 'chroma.sqlite' } }],
    ['storage.wal_mode', { storage: { wal_mode: 'on' } }],
    ['gravity.iterations', { gravity: { iterations: 3 } }],
    ['query', { query: 5 }],
  ])('CQ-047, CQ-095, CQ-097: %s is refused when it is wrong', (key, file) => {
    expect(() => resolveSettings({ file })).toThrow(ConfigurationError)
    expect(() => resolveSettings({ file })).toThrow(wrongKey(key))
  })

  it('CQ-097: sizes at the bounds and both sorts of path are fine', () => {
    for (const size of [8, 1024]) {
      expect(resolveSettings({ file: { storage: { cache_size_mb: size } } }).storage.cacheSizeMb).toBe(size)
    }
    expect(resolveSettings({ file: { storage: { db_path: 'data/my.db' } } }).storage.dbPath).toBe('data/my.db')
  })

  it('CQ-095: keys of the constructor are checked as those of files', () => {
    const given = (queryConfig: object) => () => resolveSettings({ constructed: { queryConfig } })
    expect(given({ defaultK: 0 })).toThrow(wrongKey('queryConfig.defaultK'))
    expect(given({ default_k: 5 })).toThrow(wrongKey('queryConfig.default_k'))
    expect(given({ maxK: 5 })).toThrow(wrongKey('queryConfig.maxK'))
  })

  it('CQ-095: a default profile must be registered when the engine opens', async () => {
    await expect(openWorld({ queryConfig: { defaultProfile: 'nobody' } })).rejects.toThrow(
      wrongKey('query.default_profile'),
    )
    const parseInput = () => ({ hashtags: [] })
    await using world = await openWorld({ queryConfig: { defaultProfile: 'mine' }, profiles: { mine: { parseInput } } })
    expect(world.chroma).toBeDefined()
  })
})
