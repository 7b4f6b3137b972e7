/** What errors tell the interfaces: input that is wrong is one thing, a state that is wrong another (CQ-105). */

import { describe, expect } from 'vitest'
import { writeStack } from '../../../../src/lenses/chroma/colour/stack.ts'
import {
  ConfigurationError,
  DatabaseError,
  HashtagConflictError,
  PluginError,
  QueryError,
  retrying,
  StorageError,
  ValidationError,
} from '../../../../src/lenses/chroma/errors.ts'
import { resolveSettings } from '../../../../src/lenses/chroma/settings.ts'
import { QuerentError } from '../../../../src/model/errors.ts'
import { LOCAL_OWNER } from '../../../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../../../src/ops/catalog.ts'
import { it, openWorld, TAGS, type World } from '../../../support/open-chroma-world.ts'

describe('errors', () => {
  it.each([
    [new ValidationError('invalid_parameter', ''), 'usage', false],
    [new QueryError('unknown_profile', ''), 'usage', false],
    [new ConfigurationError('invalid_configuration', ''), 'usage', false],
    [new PluginError('invalid_plugin', ''), 'usage', false],
    [new HashtagConflictError('hashtag_in_use', ''), 'conflict', false],
    [new StorageError('stack_invalid', ''), 'broken', false],
    [new DatabaseError('', { retryable: true, attempts: 5 }), 'busy', true],
    [new DatabaseError('', { retryable: false, attempts: 1 }), 'broken', false],
  ])('%o is of kind %s', (error, kind, retryable) => {
    expect({ kind: error.kind, retryable: error.retryable }).toEqual({ kind, retryable })
  })
})

function failing(times: number, error: Error) {
  const waits: number[] = []
  let calls = 0
  const work = () => {
    calls++
    if (calls <= times) throw error
    return 'done'
  }
  return { run: () => retrying(work, async ms => void waits.push(ms)), waits, calls: () => calls }
}

const BUSY = new QuerentError('store_locked', 'busy')

describe('CQ-106: a busy database', () => {
  it('is tried again after 50, 100, 200 and 400 ms', async () => {
    const four = failing(4, BUSY)
    expect(await four.run()).toBe('done')
    expect(four.waits).toEqual([50, 100, 200, 400])
  })

  it('that stays busy is a DatabaseError after five attempts', async () => {
    const always = failing(99, BUSY)
    const error = await always.run().catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(DatabaseError)
    expect(error).toMatchObject({ details: { retryable: true, attempts: 5 }, retryable: true, cause: BUSY })
    expect(always.calls()).toBe(5)
  })

  it.each(['store_readonly', 'store_corrupt', 'io_failed'] as const)(
    'of other failures, %s is reported at once',
    async code => {
      const broken = failing(1, new QuerentError(code, 'broken'))
      await expect(broken.run()).rejects.toMatchObject({
        name: 'DatabaseError',
        details: { retryable: false, attempts: 1 },
      })
      expect(broken.waits).toEqual([])
    },
  )

  it('what is no matter of the database passes as it is', async () => {
    for (const error of [new ValidationError('x', 'x'), new QuerentError('denied', 'no'), new TypeError('bug')]) {
      const other = failing(1, error)
      expect(await other.run().catch((failure: unknown) => failure)).toBe(error)
      expect(other.calls()).toBe(1)
    }
  })
})

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

function call({ chroma: { engine } }: World, name: string, input: object): Promise<unknown> {
  const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

const refused = (parameter: string, more: object = {}) => ({
  name: 'ValidationError',
  code: 'invalid_parameter',
  details: { parameter, ...more },
})

describe('names on the wire', () => {
  it.each([
    ['chroma.query', { hashtags: TAGS, maxDistance: 5 }, 'maxDistance'],
    ['chroma.query', { hashtags: TAGS, max_distanc: 5 }, 'max_distanc'],
    ['chroma.query_knn', { hashtags: TAGS, includeRotten: true }, 'includeRotten'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', modeName: 'Sparse' }, 'modeName'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', entry_id: 'a' }, 'entry_id'],
    ['chroma.update', { entry_id: 'a', mode_name: 'Sparse' }, 'mode_name'],
    ['chroma.assign', { hashtag: 'a', anchorId: 9 }, 'anchorId'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', plugin_fields: [] }, 'plugin_fields'],
  ])('CQ-001, CQ-006: %s refuses %j, told as written', async (name, input, parameter) => {
    await using world = await openWorld()
    await expect(call(world, name, input)).rejects.toMatchObject(refused(parameter))
    expect((await world.chroma.getStatistics()).total_nodes).toBe(0)
  })

  it('CQ-006, CQ-101: those of a batch, in their turn', async ({ world }) => {
    const misspelt = { hashtags: TAGS, maxDistance: 5 }
    const batch = (...queries: readonly object[]) => call(world, 'chroma.batch_query', { queries })
    await expect(batch({ hashtags: TAGS }, misspelt)).rejects.toMatchObject(refused('maxDistance', { batch_index: 1 }))
    await expect(batch({ hashtags: TAGS, k: 0 }, misspelt)).rejects.toMatchObject(refused('k', { batch_index: 0 }))
  })

  it('CQ-006, CQ-029: those of assignments, of which none is kept', async ({ world }) => {
    const assignments = [
      { hashtag: 'one', zone: 'mid' },
      { hashtag: 'two', zone: 'mid', anchorId: 9 },
    ]
    const done = call(world, 'chroma.assign', { assignments })
    await expect(done).rejects.toMatchObject(refused('anchorId', { index: 1 }))
    expect(world.chroma.resolveHashtag('one')).toBeNull()
  })
})

describe('chroma.assign', () => {
  it('takes over the hashtags of a stack file, or none of them (CQ-023, CQ-024)', async ({ world }) => {
    const bound = [
      { hashtag: '#moss', anchor_id: 321 },
      { hashtag: '#fern', anchor_id: 9_123 },
    ]
    const text = `\uFEFF\n${writeStack(bound, 0)}`
    expect(await call(world, 'chroma.assign', { text })).toMatchObject({ assigned: bound })
    const wrong = text.replace('"id":321,', '"id":322,').replace('#moss', '#reed')
    await expect(call(world, 'chroma.assign', { text: wrong })).rejects.toMatchObject({
      name: 'StorageError',
      code: 'stack_invalid',
      details: { anchor_id: 321 },
    })
    expect(world.chroma.resolveHashtag('reed')).toBeNull()
  })
})

describe('chroma.set', () => {
  it('changes everything that is said, or nothing', async ({ world }) => {
    const entry_id = await world.node()
    const before = await world.chroma.getNode(entry_id)
    const wrong = [
      { label: 'New', mode_name: 'Bogus' },
      { mode_name: 'Sparse', plugin_fields: { label: 1 } },
      { decay_enabled: false, rotten: false },
      { label: 'New', plugin_fields: 'no object' },
    ]
    for (const changes of wrong) {
      await expect(call(world, 'chroma.set', { entry_id, ...changes })).rejects.toThrow()
      expect(await world.chroma.getNode(entry_id)).toEqual(before)
    }
    const changes = { label: 'New', metadata: { a: 1 }, mode_name: 'Sparse', decay_enabled: false, rotten: true }
    expect(await call(world, 'chroma.set', { entry_id, ...changes })).toEqual({ updated: true })
    expect(await world.chroma.getNode(entry_id)).toMatchObject(changes)
    expect(await call(world, 'chroma.set', { entry_id: 'none', label: 'New', rotten: true })).toEqual({
      updated: false,
    })
    expect(await call(world, 'chroma.set', { entry_id })).toEqual({ updated: false })
  })
})
