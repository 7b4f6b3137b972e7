/** The lens chroma at every interface, by the rules of `scenario.ts`. Nodes that queries show come with ids of their own. */
import { expect } from 'vitest'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import type { Step } from './scenario.ts'

/** 2026-03-01T12:00:00Z, the scenario's clock. */
const NOW = 1_772_366_400
const DAY = 86_400

type Json = Step extends { expect?: (outcome: infer T) => void } ? T : never

function failsWith(type: string, code: string): NonNullable<Step['expect']> {
  return ({ error }) => expect(error).toMatchObject({ type, code, message: expect.any(String) })
}

export const CHROMA_STEPS: readonly Step[] = [
  {
    name: 'no hashtags yet',
    operation: 'chroma.hashtags',
    input: {},
    expect: ({ result }) => expect(result).toEqual({ hashtags: [] }),
  },
  {
    name: 'a hashtag that nobody assigned',
    operation: 'chroma.place',
    input: { hashtags: ['#nobody'] },
    expect: failsWith('UnknownHashtagError', 'unknown_hashtag'),
  },
  {
    name: 'the starter vocabulary',
    operation: 'chroma.assign',
    input: { starter: true },
    expect: ({ result }) => expect(result.assigned.length).toBeGreaterThan(500),
  },
  {
    name: 'one hashtag more',
    operation: 'chroma.assign',
    input: { hashtag: 'Quorum', zone: 'mid' },
    expect: ({ result }) => expect(result).toMatchObject({ hashtag: '#quorum', zone: 'Mid' }),
  },
  // CQ-150, at every interface.
  {
    name: 'a hashtag near another',
    operation: 'chroma.assign',
    input: { hashtag: 'Podman', near: 'docker' },
    expect: ({ result }) => expect(result).toMatchObject({ hashtag: '#podman', zone: 'Mid' }),
  },
  {
    name: 'a hashtag near one that nobody assigned',
    operation: 'chroma.assign',
    input: { hashtag: 'Podman2', near: '#nobody' },
    expect: failsWith('UnknownHashtagError', 'unknown_hashtag'),
  },
  {
    name: 'the vocabulary as a text',
    operation: 'chroma.hashtags',
    input: { as: 'lines' },
    expect: ({ result }) => expect(result.text).toMatch(/^#podman \d+$/m),
  },
  {
    name: 'the same elsewhere',
    operation: 'chroma.assign',
    input: { hashtag: '#quorum', zone: 'core' },
    expect: ({ error }) => expect(error.type).toBe('HashtagConflictError'),
  },
  {
    name: 'many at once, one of them wrong',
    operation: 'chroma.assign',
    input: {
      assignments: [
        { hashtag: 'fine', zone: 'Mid' },
        { hashtag: 'wrong', anchor_id: 10_001 },
      ],
    },
    expect: failsWith('ValidationError', 'invalid_parameter'),
  },
  {
    name: 'none of them was kept',
    operation: 'chroma.hashtags',
    input: { hashtag: 'fine' },
    expect: ({ result }) => expect(result.hashtags).toEqual([]),
  },
  {
    name: 'a colour',
    operation: 'chroma.place',
    input: { hashtags: HASHTAGS.python },
    expect: ({ result }) => expect(result.color_L).toBeTypeOf('number'),
  },
  {
    name: 'nothing is there',
    operation: 'chroma.query',
    input: { hashtags: HASHTAGS.python },
    expect: ({ result }) => expect(result).toMatchObject({ results: [], query: { k: 5, profile: 'default' } }),
  },
  {
    name: 'import nodes',
    operation: 'chroma.import',
    input: {
      version: 1,
      nodes: [
        nodeOf('fresh', HASHTAGS.python, { created_at: NOW - DAY, metadata: { year: 2024 } }),
        nodeOf('used', HASHTAGS.python, { created_at: NOW - 30 * DAY, strength_raw: 4, access_count: 7 }),
        nodeOf('far', HASHTAGS.database, { created_at: NOW - 10 * DAY, mode_name: 'Eidetic' }),
        nodeOf('gone', HASHTAGS.python, { created_at: NOW - 90 * DAY, rotten: true }),
      ],
    },
    expect: ({ result }) => expect(result).toEqual({ imported: 4 }),
  },
  {
    name: 'import them again',
    operation: 'chroma.import',
    input: { version: 1, nodes: [nodeOf('fresh', HASHTAGS.python, { created_at: NOW - DAY })] },
    expect: failsWith('ValidationError', 'duplicate_entry'),
  },
  // Servers decay in the background; after these two steps it is the same whoever came first.
  {
    name: 'decay',
    operation: 'chroma.decay',
    input: {},
    expect: ({ result }) => expect(result).toMatchObject({ processed: 4, health_decayed: 4, errors: 0 }),
  },
  {
    name: 'lifecycle',
    operation: 'chroma.lifecycle',
    input: {},
    expect: ({ result }) => expect(result).toMatchObject({ errors: 0 }),
  },
  {
    name: 'ask by hashtags',
    operation: 'chroma.query',
    input: { hashtags: HASHTAGS.python, k: 3 },
    expect: ({ result }) => {
      expect(ids(result)).toEqual(['fresh', 'used', 'far'])
      expect(result.results[0]).toMatchObject({ distance: 0, relevance: 1, label: 'fresh', metadata: { year: 2024 } })
      expect(result.query).toMatchObject({ now: NOW, update_access: true })
    },
  },
  {
    name: 'why the one used before is there',
    operation: 'chroma.explain',
    input: { query: { hashtags: HASHTAGS.python, k: 3 }, id: 'used', over: 'far' },
    expect: ({ result }) => {
      expect(result).toMatchObject({ rank: 1, dropped: null })
      expect(result.over.gap).toBeGreaterThan(0)
    },
  },
  {
    name: 'why another is not',
    operation: 'chroma.explain',
    input: { query: { hashtags: HASHTAGS.python }, id: 'gone' },
    expect: ({ result }) =>
      expect(result.dropped).toEqual({ stage: 'retrieve', reason: 'It is rotten; include_rotten finds it.' }),
  },
  {
    name: 'how many there are',
    operation: 'chroma.count',
    input: { hashtags: HASHTAGS.python },
    expect: ({ result }) => expect(result).toMatchObject({ count: 3, exact: true, verdict: 'answered' }),
  },
  {
    name: 'watching has no whole answer',
    operation: 'chroma.watch',
    input: { input: 'python async notes' },
    expect: ({ error }) => expect(error.code).toBe('invalid_argument'),
  },
  {
    name: 'that it was asked shows',
    operation: 'chroma.get',
    input: { entry_id: 'fresh' },
    expect: ({ result }) => expect(result).toMatchObject({ access_count: 1, last_accessed: NOW }),
  },
  {
    name: 'ask by a text, dry',
    operation: 'chroma.query',
    input: { input: 'top 2 python async notes since 2026', update_access: false },
    expect: ({ result }) => {
      expect(result.results).toHaveLength(2)
      expect(result.query.completed_hashtags.length).toBeGreaterThan(0)
      expect(result.query.k).toBe(2)
    },
  },
  {
    name: 'every option',
    operation: 'chroma.query',
    input: {
      hashtags: HASHTAGS.python,
      k: 10,
      max_distance: 20,
      temporal_range: [NOW - 100 * DAY, NOW],
      metadata_filters: { year: { $gte: 2020 } },
      include_rotten: true,
      score_weights: { relevance: 0.5, recency: 0.25, strength: 0.25 },
      profile: 'default',
      update_access: false,
    },
    expect: ({ result }) => expect(ids(result)).toEqual(['fresh']),
  },
  {
    name: 'nothing so near',
    operation: 'chroma.query',
    input: { hashtags: HASHTAGS.web, max_distance: 0.001 },
    expect: ({ result }) => {
      expect(result.results).toEqual([])
      expect(result.warnings).toMatchObject([{ code: 'no_results_within_distance' }])
    },
  },
  {
    name: 'the nearest',
    operation: 'chroma.query_knn',
    input: { hashtags: HASHTAGS.database, k: 1, update_access: false },
    expect: ({ result }) => expect(ids(result)).toEqual(['far']),
  },
  {
    name: 'a batch',
    operation: 'chroma.batch_query',
    input: {
      queries: [
        { hashtags: HASHTAGS.python, k: 1 },
        { input: 'python', k: 1, update_access: false },
      ],
    },
    expect: ({ result }) => expect(result.answers.map(ids)).toEqual([['used'], ['used']]),
  },
  {
    name: 'a batch, one of it wrong',
    operation: 'chroma.batch_query',
    input: { queries: [{ hashtags: HASHTAGS.python }, { hashtags: HASHTAGS.python, k: 0 }] },
    expect: ({ error }) =>
      expect(error).toMatchObject({ type: 'ValidationError', details: { parameter: 'k', batch_index: 1 } }),
  },
  {
    name: 'too few hashtags',
    operation: 'chroma.query',
    input: { hashtags: ['#python'] },
    expect: ({ error }) =>
      expect(error).toMatchObject({
        type: 'ValidationError',
        code: 'invalid_hashtags',
        details: { violations: ['outer', 'total', 'mid'] },
      }),
  },
  {
    name: 'no such option',
    operation: 'chroma.query',
    input: { hashtags: HASHTAGS.python, maximum_distance: 3 },
    expect: failsWith('ValidationError', 'invalid_parameter'),
  },
  {
    name: 'no such profile',
    operation: 'chroma.query',
    input: { input: 'python', profile: 'none' },
    expect: failsWith('QueryError', 'unknown_profile'),
  },
  {
    name: 'a text that its profile cannot read',
    operation: 'chroma.query',
    input: { input: ' | claude:tools | 2025-06-01', profile: 'knowledge_patch' },
    expect: ({ error }) => expect(error.type).toBe('QueryProfileError'),
  },
  {
    name: 'what an agent cannot see',
    operation: 'chroma.query',
    viewer: 'ana',
    input: { hashtags: HASHTAGS.python },
    expect: ({ result }) => expect(result.results).toEqual([]),
  },
  {
    name: 'an agent stores',
    operation: 'chroma.store',
    viewer: 'ana',
    input: { hashtags: HASHTAGS.web, label: 'Ana', content: 'Hers.', metadata: { a: [1, null] }, mode_name: 'Sparse' },
    expect: ({ result }) => expect(result.entry_id).toMatch(/^[0-9a-f-]{36}$/),
  },
  {
    name: 'and reads it',
    operation: 'chroma.get',
    viewer: 'ana',
    inputFrom: answers => ({ entry_id: answers.get('an agent stores').entry_id }),
    expect: ({ result }) => expect(result).toMatchObject({ label: 'Ana', mode_name: 'Sparse', access_count: 0 }),
  },
  {
    name: 'another one cannot',
    operation: 'chroma.get',
    viewer: 'ben',
    inputFrom: () => ({ entry_id: 'fresh' }),
    expect: failsWith('QueryError', 'not_found'),
  },
  {
    name: 'an agent may not move hashtags',
    operation: 'chroma.migrate',
    viewer: 'ana',
    input: { hashtag: '#python', zone: 'mid' },
    expect: ({ error }) => expect(error.code).toBe('denied'),
  },
  {
    name: 'a label that is none',
    operation: 'chroma.store',
    input: { hashtags: HASHTAGS.web, label: 3, content: '' },
    expect: failsWith('ValidationError', 'invalid_parameter'),
  },
  {
    name: 'update',
    operation: 'chroma.update',
    input: { entry_id: 'far', label: 'Far away', metadata: null },
    expect: ({ result }) => expect(result).toEqual({ updated: true }),
  },
  {
    name: 'update what may not change',
    operation: 'chroma.update',
    input: { entry_id: 'far', hashtags: HASHTAGS.web },
    expect: failsWith('ValidationError', 'invalid_parameter'),
  },
  {
    name: 'another mode',
    operation: 'chroma.set',
    input: { entry_id: 'far', mode_name: 'Spacey', decay_enabled: false },
    expect: ({ result }) => expect(result).toEqual({ updated: true }),
  },
  {
    name: 'suggest',
    operation: 'chroma.suggest_hashtags',
    input: { content: 'Async Python, (pathlib) and node.js.' },
    expect: ({ result }) => expect(result.hashtags).toEqual(['#async', '#python', '#pathlib', '#node.js']),
  },
  {
    name: 'a whole set for a text',
    operation: 'chroma.suggest_hashtags',
    input: { content: 'Async python and a cow', complete: true },
    expect: ({ result }) => {
      expect(result.hashtags.slice(0, 2)).toEqual(['#python', '#async'])
      expect(result.tags[0]).toEqual({ hashtag: '#python', zone: 'Core', reason: 'named', score: 1 })
    },
  },
  {
    name: 'move a hashtag',
    operation: 'chroma.migrate',
    input: { hashtag: '#stdlib', zone: 'mid' },
    expect: ({ result }) => expect(result.nodes_updated).toBe(0),
  },
  {
    name: 'free a hashtag that is in use',
    operation: 'chroma.unassign',
    input: { hashtag: '#stdlib' },
    expect: failsWith('HashtagConflictError', 'hashtag_in_use'),
  },
  {
    name: 'free one that is not',
    operation: 'chroma.unassign',
    input: { hashtag: '#quorum' },
    expect: ({ result }) => expect(result).toMatchObject({ hashtag: '#quorum' }),
  },
  { name: 'points', operation: 'chroma.points', input: { limit: 3 } },
  {
    name: 'delete',
    operation: 'chroma.delete',
    input: { entry_id: 'used' },
    expect: ({ result }) => expect(result).toEqual({ deleted: true }),
  },
  {
    name: 'delete it again',
    operation: 'chroma.delete',
    input: { entry_id: 'used' },
    expect: ({ result }) => expect(result).toEqual({ deleted: false }),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  {
    name: 'update what is gone',
    operation: 'chroma.update',
    input: { entry_id: 'used', label: 'Anew' },
    expect: ({ result }) => expect(result).toEqual({ updated: false }),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  {
    name: 'read what is gone',
    operation: 'chroma.get',
    input: { entry_id: 'used' },
    expect: failsWith('QueryError', 'not_found'),
  },
  {
    name: 'an agent deletes what it cannot see',
    operation: 'chroma.delete',
    viewer: 'ben',
    input: { entry_id: 'fresh' },
    expect: ({ result }) => expect(result).toEqual({ deleted: false }),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  {
    name: 'an agent assigns',
    operation: 'chroma.assign',
    viewer: 'ana',
    input: { hashtag: '#hers', zone: 'mid' },
    expect: ({ error }) => expect(error.code).toBe('denied'),
    atRoute: failsWith('QueryError', 'denied'),
  },
  {
    name: 'count',
    operation: 'chroma.statistics',
    input: {},
    expect: ({ result }) => expect(result).toMatchObject({ total_nodes: 4, rotten_nodes: 1, decay_disabled: 1 }),
  },
  {
    name: 'export nodes',
    operation: 'chroma.export',
    input: {},
    expect: ({ result }) => expect(result.nodes.map((node: Json) => node.entry_id)).toEqual(['far', 'fresh', 'gone']),
  },
  {
    name: 'an agent stores with hashtags chosen for it',
    operation: 'chroma.store',
    viewer: 'ben',
    input: { label: 'Python', content: 'How async functions wait.', auto_tags: true },
    expect: ({ result }) => expect(result.tags.length).toBeGreaterThanOrEqual(8),
  },
]

function ids(answer: Json): readonly string[] {
  return answer.results.map((row: Json) => row.entry_id)
}
