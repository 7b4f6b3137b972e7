/** The lens chroma at every interface, by the rules of `scenario.ts`. Nodes that queries show come with ids of their own. */
import { expect } from 'vitest'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import { by, refused, type Step, step } from './scenario.ts'

/** 2026-03-01T12:00:00Z, the scenario's clock. */
const NOW = 1_772_366_400
const DAY = 86_400

type Json = Step extends { expect?: (outcome: infer T) => void } ? T : never

function failsWith(type: string, code: string): NonNullable<Step['expect']> {
  return ({ error }) => expect(error).toMatchObject({ type, code, message: expect.any(String) })
}

export const CHROMA_STEPS: readonly Step[] = [
  step('no hashtags yet', 'chroma.hashtags', {}, ({ result }) => expect(result).toEqual({ hashtags: [] })),
  step(
    'a hashtag that nobody assigned',
    'chroma.place',
    { hashtags: ['#nobody'] },
    failsWith('UnknownHashtagError', 'unknown_hashtag'),
  ),
  step('the starter vocabulary', 'chroma.assign', { starter: true }, ({ result }) =>
    expect(result.assigned.length).toBeGreaterThan(500),
  ),
  step('one hashtag more', 'chroma.assign', { hashtag: 'Quorum', zone: 'mid' }, { hashtag: '#quorum', zone: 'Mid' }),
  // CQ-150, at every interface.
  step(
    'a hashtag near another',
    'chroma.assign',
    { hashtag: 'Podman', near: 'docker' },
    { hashtag: '#podman', zone: 'Mid' },
  ),
  step(
    'a hashtag near one that nobody assigned',
    'chroma.assign',
    { hashtag: 'Podman2', near: '#nobody' },
    failsWith('UnknownHashtagError', 'unknown_hashtag'),
  ),
  step('the vocabulary as a text', 'chroma.hashtags', { as: 'lines' }, ({ result }) =>
    expect(result.text).toMatch(/^#podman \d+$/m),
  ),
  step('the same elsewhere', 'chroma.assign', { hashtag: '#quorum', zone: 'core' }, ({ error }) =>
    expect(error.type).toBe('HashtagConflictError'),
  ),
  step(
    'many at once, one of them wrong',
    'chroma.assign',
    {
      assignments: [
        { hashtag: 'fine', zone: 'Mid' },
        { hashtag: 'wrong', anchor_id: 10_001 },
      ],
    },
    failsWith('ValidationError', 'invalid_parameter'),
  ),
  step('none of them was kept', 'chroma.hashtags', { hashtag: 'fine' }, ({ result }) =>
    expect(result.hashtags).toEqual([]),
  ),
  step('a colour', 'chroma.place', { hashtags: HASHTAGS.python }, ({ result }) =>
    expect(result.color_L).toBeTypeOf('number'),
  ),
  step(
    'nothing is there',
    'chroma.query',
    { hashtags: HASHTAGS.python },
    { results: [], query: { k: 5, profile: 'default' } },
  ),
  step(
    'import nodes',
    'chroma.import',
    {
      version: 1,
      nodes: [
        nodeOf('fresh', HASHTAGS.python, { created_at: NOW - DAY, metadata: { year: 2024 } }),
        nodeOf('used', HASHTAGS.python, { created_at: NOW - 30 * DAY, strength_raw: 4, access_count: 7 }),
        nodeOf('far', HASHTAGS.database, { created_at: NOW - 10 * DAY, mode_name: 'Eidetic' }),
        nodeOf('gone', HASHTAGS.python, { created_at: NOW - 90 * DAY, rotten: true }),
      ],
    },
    ({ result }) => expect(result).toEqual({ imported: 4 }),
  ),
  step(
    'import them again',
    'chroma.import',
    { version: 1, nodes: [nodeOf('fresh', HASHTAGS.python, { created_at: NOW - DAY })] },
    failsWith('ValidationError', 'duplicate_entry'),
  ),
  // Servers decay in the background; after these two steps it is the same whoever came first.
  step('decay', 'chroma.decay', {}, { processed: 4, health_decayed: 4, errors: 0 }),
  step('lifecycle', 'chroma.lifecycle', {}, { errors: 0 }),
  step('ask by hashtags', 'chroma.query', { hashtags: HASHTAGS.python, k: 3 }, ({ result }) => {
    expect(ids(result)).toEqual(['fresh', 'used', 'far'])
    expect(result.results[0]).toMatchObject({ distance: 0, relevance: 1, label: 'fresh', metadata: { year: 2024 } })
    expect(result.query).toMatchObject({ now: NOW, update_access: true })
  }),
  step(
    'why the one used before is there',
    'chroma.explain',
    { query: { hashtags: HASHTAGS.python, k: 3 }, id: 'used', over: 'far' },
    ({ result }) => {
      expect(result).toMatchObject({ rank: 1, dropped: null })
      expect(result.over.gap).toBeGreaterThan(0)
    },
  ),
  step('why another is not', 'chroma.explain', { query: { hashtags: HASHTAGS.python }, id: 'gone' }, ({ result }) =>
    expect(result.dropped).toEqual({ stage: 'retrieve', reason: 'It is rotten; include_rotten finds it.' }),
  ),
  step(
    'how many there are',
    'chroma.count',
    { hashtags: HASHTAGS.python },
    { count: 3, exact: true, verdict: 'answered' },
  ),
  step('watching has no whole answer', 'chroma.watch', { input: 'python async notes' }, refused('invalid_argument')),
  step('that it was asked shows', 'chroma.get', { entry_id: 'fresh' }, { access_count: 1, last_accessed: NOW }),
  step(
    'ask by a text, dry',
    'chroma.query',
    { input: 'top 2 python async notes since 2026', update_access: false },
    ({ result }) => {
      expect(result.results).toHaveLength(2)
      expect(result.query.completed_hashtags.length).toBeGreaterThan(0)
      expect(result.query.k).toBe(2)
    },
  ),
  step(
    'every option',
    'chroma.query',
    {
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
    ({ result }) => expect(ids(result)).toEqual(['fresh']),
  ),
  step('nothing so near', 'chroma.query', { hashtags: HASHTAGS.web, max_distance: 0.001 }, ({ result }) => {
    expect(result.results).toEqual([])
    expect(result.warnings).toMatchObject([{ code: 'no_results_within_distance' }])
  }),
  step('the nearest', 'chroma.query_knn', { hashtags: HASHTAGS.database, k: 1, update_access: false }, ({ result }) =>
    expect(ids(result)).toEqual(['far']),
  ),
  step(
    'a batch',
    'chroma.batch_query',
    {
      queries: [
        { hashtags: HASHTAGS.python, k: 1 },
        { input: 'python', k: 1, update_access: false },
      ],
    },
    ({ result }) => expect(result.answers.map(ids)).toEqual([['used'], ['used']]),
  ),
  step(
    'a batch, one of it wrong',
    'chroma.batch_query',
    { queries: [{ hashtags: HASHTAGS.python }, { hashtags: HASHTAGS.python, k: 0 }] },
    refused({ type: 'ValidationError', details: { parameter: 'k', batch_index: 1 } }),
  ),
  step(
    'too few hashtags',
    'chroma.query',
    { hashtags: ['#python'] },
    refused({
      type: 'ValidationError',
      code: 'invalid_hashtags',
      details: { violations: ['outer', 'total', 'mid'] },
    }),
  ),
  step(
    'no such option',
    'chroma.query',
    { hashtags: HASHTAGS.python, maximum_distance: 3 },
    failsWith('ValidationError', 'invalid_parameter'),
  ),
  step(
    'no such profile',
    'chroma.query',
    { input: 'python', profile: 'none' },
    failsWith('QueryError', 'unknown_profile'),
  ),
  step(
    'a text that its profile cannot read',
    'chroma.query',
    { input: ' | claude:tools | 2025-06-01', profile: 'knowledge_patch' },
    ({ error }) => expect(error.type).toBe('QueryProfileError'),
  ),
  by(
    'ana',
    step('what an agent cannot see', 'chroma.query', { hashtags: HASHTAGS.python }, ({ result }) =>
      expect(result.results).toEqual([]),
    ),
  ),
  by(
    'ana',
    step(
      'an agent stores',
      'chroma.store',
      { hashtags: HASHTAGS.web, label: 'Ana', content: 'Hers.', metadata: { a: [1, null] }, mode_name: 'Sparse' },
      ({ result }) => expect(result.entry_id).toMatch(/^[0-9a-f-]{36}$/),
    ),
  ),
  by(
    'ana',
    step('and reads it', 'chroma.get', answers => ({ entry_id: answers.get('an agent stores').entry_id }), {
      label: 'Ana',
      mode_name: 'Sparse',
      access_count: 0,
    }),
  ),
  by(
    'ben',
    step('another one cannot', 'chroma.get', () => ({ entry_id: 'fresh' }), failsWith('QueryError', 'not_found')),
  ),
  by(
    'ana',
    step('an agent may not move hashtags', 'chroma.migrate', { hashtag: '#python', zone: 'mid' }, refused('denied')),
  ),
  step(
    'a label that is none',
    'chroma.store',
    { hashtags: HASHTAGS.web, label: 3, content: '' },
    failsWith('ValidationError', 'invalid_parameter'),
  ),
  step('update', 'chroma.update', { entry_id: 'far', label: 'Far away', metadata: null }, ({ result }) =>
    expect(result).toEqual({ updated: true }),
  ),
  step(
    'update what may not change',
    'chroma.update',
    { entry_id: 'far', hashtags: HASHTAGS.web },
    failsWith('ValidationError', 'invalid_parameter'),
  ),
  step('another mode', 'chroma.set', { entry_id: 'far', mode_name: 'Spacey', decay_enabled: false }, ({ result }) =>
    expect(result).toEqual({ updated: true }),
  ),
  step('suggest', 'chroma.suggest_hashtags', { content: 'Async Python, (pathlib) and node.js.' }, ({ result }) =>
    expect(result.hashtags).toEqual(['#async', '#python', '#pathlib', '#node.js']),
  ),
  step(
    'a whole set for a text',
    'chroma.suggest_hashtags',
    { content: 'Async python and a cow', complete: true },
    ({ result }) => {
      expect(result.hashtags.slice(0, 2)).toEqual(['#python', '#async'])
      expect(result.tags[0]).toEqual({ hashtag: '#python', zone: 'Core', reason: 'named', score: 1 })
    },
  ),
  step('move a hashtag', 'chroma.migrate', { hashtag: '#stdlib', zone: 'mid' }, ({ result }) =>
    expect(result.nodes_updated).toBe(0),
  ),
  step(
    'free a hashtag that is in use',
    'chroma.unassign',
    { hashtag: '#stdlib' },
    failsWith('HashtagConflictError', 'hashtag_in_use'),
  ),
  step('free one that is not', 'chroma.unassign', { hashtag: '#quorum' }, { hashtag: '#quorum' }),
  step('points', 'chroma.points', { limit: 3 }),
  step('delete', 'chroma.delete', { entry_id: 'used' }, ({ result }) => expect(result).toEqual({ deleted: true })),
  {
    ...step('delete it again', 'chroma.delete', { entry_id: 'used' }, ({ result }) =>
      expect(result).toEqual({ deleted: false }),
    ),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  {
    ...step('update what is gone', 'chroma.update', { entry_id: 'used', label: 'Anew' }, ({ result }) =>
      expect(result).toEqual({ updated: false }),
    ),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  step('read what is gone', 'chroma.get', { entry_id: 'used' }, failsWith('QueryError', 'not_found')),
  {
    ...by(
      'ben',
      step('an agent deletes what it cannot see', 'chroma.delete', { entry_id: 'fresh' }, ({ result }) =>
        expect(result).toEqual({ deleted: false }),
      ),
    ),
    atRoute: failsWith('QueryError', 'not_found'),
  },
  {
    ...by('ana', step('an agent assigns', 'chroma.assign', { hashtag: '#hers', zone: 'mid' }, refused('denied'))),
    atRoute: failsWith('QueryError', 'denied'),
  },
  step('count', 'chroma.statistics', {}, { total_nodes: 4, rotten_nodes: 1, decay_disabled: 1 }),
  step('export nodes', 'chroma.export', {}, ({ result }) =>
    expect(result.nodes.map((node: Json) => node.entry_id)).toEqual(['far', 'fresh', 'gone']),
  ),
  by(
    'ben',
    step(
      'an agent stores with hashtags chosen for it',
      'chroma.store',
      { label: 'Python', content: 'How async functions wait.', auto_tags: true },
      ({ result }) => expect(result.tags.length).toBeGreaterThanOrEqual(8),
    ),
  ),
]

function ids(answer: Json): readonly string[] {
  return answer.results.map((row: Json) => row.entry_id)
}
