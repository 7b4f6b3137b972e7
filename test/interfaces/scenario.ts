/**
 * What is asked at every interface, in order, on a store of its own. Each step's answer must be the same everywhere; `expect`
 * says in addition what it must be. Later steps may use what earlier ones answered (cursors differ between stores).
 */
import { expect } from 'vitest'

export type Outcome = { readonly result: Json } | { readonly error: Json }
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, read in expectations only
type Json = any

export interface Step {
  readonly name: string
  readonly operation: string
  readonly input?: unknown
  /** The input, made from earlier answers by the names of their steps. */
  readonly inputFrom?: (answers: ReadonlyMap<string, Json>) => unknown
  /** Absent: the local owner. */
  readonly viewer?: string | undefined
  readonly expect?: (outcome: Json) => void
  /** What a readable route says instead, where the contract of a lens gives it words of its own. */
  readonly atRoute?: (outcome: Json) => void
}

/** Three sections, each long enough to be a chunk. */
const LONG = [
  ['Clay', 'The clay rests for a week.'],
  ['Firing', 'The temperature rises slowly.'],
  ['Glaze', 'The glaze melts at a temperature above the first.'],
]
  .map(([heading, text]) => `# ${heading}\n\n${`${text} `.repeat(12).trim()}\n`)
  .join('\n')

/** `docs` is a folder with `decay.md` and `kernel.md`. */
export function scenario(docs: string): readonly Step[] {
  return [
    {
      name: 'an empty store',
      operation: 'list',
      input: {},
      expect: ({ result }) => expect(result).toEqual({ items: [], total: 0, cursor: null }),
    },
    {
      name: 'nothing relevant where nothing is known',
      operation: 'query',
      input: { text: 'half life' },
      expect: ({ result }) =>
        expect(result).toMatchObject({ items: [], verdict: 'nothing_relevant', verdict_by: 'words', nearest: [] }),
    },
    {
      name: 'add a folder',
      operation: 'add',
      input: { paths: [docs] },
      expect: ({ result }) => expect(result).toMatchObject({ added: 2, updated: 0, errors: [] }),
    },
    {
      name: 'add it again',
      operation: 'add',
      input: { paths: [docs] },
      expect: ({ result }) => expect(result).toMatchObject({ added: 0, unchanged: 2 }),
    },
    {
      name: 'nothing has changed below it',
      operation: 'sync',
      input: {},
      expect: ({ result }) =>
        expect(result).toMatchObject({
          ...{ added: 0, updated: 0, deleted: 0 },
          paths: [{ path: docs, missing: false, files: 2, changed: 0, added: 0, deleted: 0 }],
        }),
    },
    {
      name: 'a path that was not added is not synced',
      operation: 'sync',
      input: { paths: ['/nowhere'] },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'paths.0' } }),
    },
    {
      name: 'an agent syncs nothing',
      operation: 'sync',
      viewer: 'ana',
      input: {},
      expect: ({ error }) => expect(error.code).toBe('denied'),
    },
    {
      name: 'write notes',
      operation: 'put',
      input: {
        entries: [
          { id: 'n1', title: 'Uno', content: 'La niñez pasa rápido.', collection: 'notes', tags: ['es'] },
          {
            id: 'n2',
            title: 'Two',
            content: 'The half life of caffeine is five hours.',
            metadata: { a: { b: [1, null] } },
          },
          { id: 'n3', title: 'Three', content: 'Shared with all.', visibility: 'public', valid_until: '2030-01-01' },
        ],
      },
      expect: ({ result }) =>
        expect(result).toEqual({
          ids: ['n1', 'n2', 'n3'],
          created: 3,
          updated: 0,
          unchanged: 0,
          embedding_error: null,
        }),
    },
    {
      name: 'write one of them again',
      operation: 'put',
      input: { entries: [{ id: 'n3', title: 'Three', content: 'Shared with everybody.', visibility: 'public' }] },
      expect: ({ result }) => expect(result).toMatchObject({ created: 0, updated: 1 }),
    },
    {
      name: 'an agent writes',
      operation: 'put',
      viewer: 'ana',
      input: { entries: [{ id: 'n1', content: 'Ana keeps bees; the half life of honey is unknown.' }] },
      expect: ({ result }) => expect(result).toMatchObject({ created: 1 }),
    },
    {
      name: 'ask, with reasons and trace',
      operation: 'query',
      input: { text: 'half life', explain: true, trace: true },
      expect: ({ result }) => {
        expect(result.verdict).toBe('answered')
        expect(result.items.map((item: Json) => item.title)).toContain('Decay')
        expect(result.items[0].explanation.value).toBe(result.items[0].score)
      },
    },
    {
      name: 'an agent writes a long text',
      operation: 'put',
      viewer: 'ana',
      input: { entries: [{ id: 'kiln', title: 'Kiln', content: LONG, kind: 'document' }] },
      expect: ({ result }) => expect(result).toMatchObject({ created: 1 }),
    },
    {
      name: 'ask for several passages of each (QE-008)',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze temperature', passages: 2, explain: true },
      expect: ({ result }) => {
        const [item] = result.items
        expect(item.id).toBe('kiln')
        expect(item.passages.map(({ section }: Json) => section.at(-1))).toEqual(['Glaze', 'Firing'])
        const [first, second] = item.passages
        expect(first).toMatchObject(item.excerpt)
        expect(first.score).toBeGreaterThan(second.score)
        expect(second.explanation.value).toBe(second.score)
        expect(second.end_line).toBeLessThan(first.start_line)
      },
    },
    {
      name: 'ask for more passages than there can be',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze', passages: 11 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'passages' } }),
    },
    {
      name: 'ask for several passages where a lens scores none',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze', lens: 'conversations', passages: 2 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'passages' } }),
    },
    {
      name: 'a result has its best passage without being asked (QE-008)',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze temperature' },
      expect: ({ result }) => {
        expect(result.items.length).toBeGreaterThan(0)
        for (const { excerpt, passages } of result.items) {
          expect(passages).toEqual([{ ...excerpt, score: expect.any(Number) }])
        }
      },
    },
    {
      name: 'ask for passages as results (QE-008)',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze temperature', group: 'passage', limit: 1, explain: true },
      expect: ({ result }) => {
        expect(result.items.map(({ id, passage }: Json) => [id, passage])).toEqual([['kiln', 3]])
        for (const { excerpt, passages, score, explanation } of result.items) {
          expect(passages).toEqual([{ ...excerpt, score }])
          expect(explanation.value).toBe(score)
        }
        expect(result.items[0].excerpt.section).toEqual(['Glaze'])
        expect(result.cursor).not.toBeNull()
      },
    },
    {
      name: 'the passages after them (QE-008)',
      operation: 'query',
      viewer: 'ana',
      inputFrom: answers => ({
        text: 'glaze temperature',
        group: 'passage',
        limit: 1,
        cursor: answers.get('ask for passages as results (QE-008)').cursor,
      }),
      expect: ({ result }) => {
        expect(result.items.map(({ id, passage, rank }: Json) => [id, passage, rank])).toEqual([['kiln', 2, 2]])
        expect(result.items[0].excerpt.section).toEqual(['Firing'])
      },
    },
    {
      name: 'why a passage is there, over another of the same entry (QE-008)',
      operation: 'explain',
      viewer: 'ana',
      input: {
        query: { text: 'glaze temperature', group: 'passage' },
        ...{ id: 'kiln', passage: 2, over: 'kiln', over_passage: 3 },
      },
      expect: ({ result }) => {
        expect(result).toMatchObject({ id: 'kiln', passage: 2, rank: 2, over: { id: 'kiln', passage: 3, rank: 1 } })
        expect(result.explanation.value).toBe(result.score)
      },
    },
    {
      name: 'why a passage that the entry does not have',
      operation: 'explain',
      viewer: 'ana',
      input: { query: { text: 'glaze', group: 'passage' }, id: 'kiln', passage: 9 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { passage: 9 } }),
    },
    {
      name: 'why a passage where entries are ranked',
      operation: 'explain',
      viewer: 'ana',
      input: { query: { text: 'glaze' }, id: 'kiln', passage: 1 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'passage' } }),
    },
    {
      name: 'a list of passages (QE-008)',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'kind:document', group: 'passage' },
      expect: ({ result }) => {
        expect(result.mode).toBe('list')
        expect(result.items.map(({ id, passage }: Json) => [id, passage])).toEqual([
          ['kiln', 1],
          ['kiln', 2],
          ['kiln', 3],
        ])
      },
    },
    {
      name: 'passages like an entry (QE-008)',
      operation: 'similar',
      viewer: 'ana',
      input: { id: 'n1', limit: 2, group: 'passage' },
      expect: ({ result }) => expect(result.items.every(({ passage }: Json) => passage >= 1)).toBe(true),
    },
    {
      name: 'ask for several passages of a passage',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze', group: 'passage', passages: 2 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'passages' } }),
    },
    {
      name: 'ask for passages as results where a lens scores none',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze', lens: 'conversations', group: 'passage' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'group' } }),
    },
    {
      name: 'ask for a group that is none',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'glaze', group: 'section' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'group' } }),
    },
    { name: 'the long text goes', operation: 'delete', viewer: 'ana', input: { ids: ['kiln'] } },
    {
      name: 'ask in Spanish without accents',
      operation: 'query',
      input: { text: 'ninez rapido', filter: { collections: ['notes'] } },
      expect: ({ result }) => expect(result.items.map((item: Json) => item.id)).toEqual(['n1']),
    },
    {
      name: 'an agent sees its own and what is public, and no more',
      operation: 'query',
      viewer: 'ana',
      input: { text: 'half life shared' },
      expect: ({ result }) => {
        expect(result.items.map((item: Json) => `${item.holder}/${item.id}`).sort()).toEqual(['ana/n1', 'owner/n3'])
      },
    },
    {
      name: 'another agent sees only what is public',
      operation: 'list',
      viewer: 'ben',
      input: {},
      expect: ({ result }) => expect(result).toMatchObject({ total: 1, items: [{ id: 'n3' }] }),
    },
    {
      name: 'a forbidden entry is a missing entry',
      operation: 'get',
      viewer: 'ben',
      input: { id: 'n2' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n2' } }),
    },
    {
      name: 'a missing entry',
      operation: 'get',
      viewer: 'ben',
      input: { id: 'n9' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n9' } }),
    },
    {
      name: 'a use of entries of which one is forbidden is a use of none',
      operation: 'touch',
      viewer: 'ben',
      input: { ids: ['n3', 'n2'] },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n2' } }),
    },
    {
      name: 'a citation counts as use',
      operation: 'touch',
      input: { ids: ['n2', 'n3'] },
      expect: ({ result }) => expect(result).toEqual({ touched: 2 }),
    },
    {
      name: 'get',
      operation: 'get',
      input: { id: 'n2' },
      expect: ({ result }) => {
        expect(result).toMatchObject({
          holder: 'owner',
          audience: { kind: 'private' },
          metadata: { a: { b: [1, null] } },
        })
      },
    },
    { name: 'the first page of a list', operation: 'list', input: { order: 'id', limit: 2 } },
    {
      name: 'the second page',
      operation: 'list',
      inputFrom: answers => ({ order: 'id', limit: 2, cursor: answers.get('the first page of a list').cursor }),
      expect: ({ result }) => expect(result.items).toHaveLength(2),
    },
    {
      name: 'the first page of an answer',
      operation: 'query',
      input: { text: 'half life the', limit: 1, any: true },
      expect: ({ result }) => expect(result.cursor).not.toBeNull(),
    },
    {
      name: 'the page after it',
      operation: 'query',
      inputFrom: answers => ({
        text: 'half life the',
        limit: 1,
        any: true,
        cursor: answers.get('the first page of an answer').cursor,
      }),
      expect: ({ result }) => expect(result.items[0].rank).toBe(2),
    },
    {
      name: 'the cursor of another question',
      operation: 'query',
      inputFrom: answers => ({ text: 'caffeine', limit: 1, cursor: answers.get('the first page of an answer').cursor }),
      expect: ({ error }) => expect(error.code).toBe('cursor_mismatch'),
    },
    {
      name: 'count what answers',
      operation: 'count',
      input: { text: 'half life' },
      expect: ({ result }) => expect(result).toMatchObject({ count: expect.any(Number), exact: true }),
    },
    { name: 'why is it there', operation: 'explain', input: { query: { text: 'half life' }, id: 'n2' } },
    {
      name: 'why is it not',
      operation: 'explain',
      input: { query: { text: 'half life' }, id: 'n3' },
      expect: ({ result }) => expect(result).toMatchObject({ rank: null, dropped: { stage: expect.any(String) } }),
    },
    { name: 'why this over that', operation: 'explain', input: { query: { text: 'half life' }, id: 'n2', over: 'n3' } },
    {
      name: 'why something that nobody knows',
      operation: 'explain',
      input: { query: { text: 'half life' }, id: 'n9' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n9' } }),
    },
    {
      name: 'why something hidden',
      operation: 'explain',
      viewer: 'ben',
      input: { query: { text: 'half life' }, id: 'n2' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n2' } }),
    },
    { name: 'similar', operation: 'similar', input: { id: 'n2', limit: 3 } },
    {
      name: 'similar to something hidden',
      operation: 'similar',
      viewer: 'ben',
      input: { id: 'n2' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'not_found', details: { id: 'n2' } }),
    },
    {
      name: 'watching has no whole answer',
      operation: 'watch',
      input: { text: 'half life' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { operation: 'watch' } }),
    },
    {
      name: 'an entry without a text',
      operation: 'put',
      input: { entries: [{ id: 'n4' }] },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument' }),
    },
    {
      name: 'a page of no list',
      operation: 'list',
      input: { cursor: 'nonsense' },
      expect: ({ error }) => expect(error.code).toBe('cursor_invalid'),
    },
    {
      name: 'an order that is none',
      operation: 'list',
      input: { order: 'size' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'order' } }),
    },
    {
      name: 'a question that breaks the grammar',
      operation: 'query',
      input: { text: 'half "life', syntax: 'strict' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'query_syntax', details: { position: 5 } }),
    },
    {
      name: 'a field that is not one',
      operation: 'query',
      input: { text: 'half', limits: 3 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'unknown_field', details: { field: 'limits' } }),
    },
    {
      name: 'a limit out of range',
      operation: 'query',
      input: { text: 'half', limit: 0 },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument', details: { field: 'limit' } }),
    },
    {
      name: 'an unknown lens',
      operation: 'query',
      input: { text: 'half', lens: 'nonsense' },
      expect: ({ error }) => expect(error.code).toBe('unknown_lens'),
    },
    {
      name: 'hostile text',
      operation: 'query',
      input: { text: `'); DROP TABLE entries; -- NEAR(a b) \u0000 \ud83d` },
    },
    {
      name: 'an agent cannot delete what it does not hold',
      operation: 'delete',
      viewer: 'ben',
      input: { ids: ['n3'] },
      expect: ({ error }) => expect(error.code).toBe('denied'),
    },
    {
      name: 'what cannot be seen is missing, not denied',
      operation: 'delete',
      viewer: 'ben',
      input: { ids: ['n2'] },
      expect: ({ error }) => expect(error.code).toBe('not_found'),
    },
    { name: 'the public entry is still there', operation: 'get', viewer: 'ben', input: { id: 'n3' } },
    {
      name: 'delete',
      operation: 'delete',
      input: { ids: ['n2'] },
      expect: ({ result }) => expect(result).toEqual({ deleted: 1 }),
    },
    {
      name: 'the deleted entry is gone',
      operation: 'query',
      input: { text: 'caffeine' },
      expect: ({ result }) => expect(result.verdict).toBe('nothing_relevant'),
    },
    {
      name: 'status of an agent',
      operation: 'status',
      viewer: 'ben',
      input: {},
      expect: ({ result }) => expect(result).toMatchObject({ entries: 1, home: null }),
    },
    { name: 'status', operation: 'status', input: {}, expect: ({ result }) => expect(result.entries).toBe(5) },
    {
      name: 'an agent may not export',
      operation: 'export',
      viewer: 'ana',
      input: {},
      expect: ({ error }) => expect(error.code).toBe('denied'),
    },
    {
      name: 'export',
      operation: 'export',
      input: {},
      expect: ({ result }) => expect(result.lines[0]).toEqual({ type: 'querent', version: 1 }),
    },
    {
      name: 'import the same',
      operation: 'import',
      inputFrom: answers => answers.get('export'),
    },
    {
      name: 'import what is none',
      operation: 'import',
      input: { lines: [{ type: 'nonsense' }] },
      expect: ({ error }) => expect(error).toBeDefined(),
    },
    {
      name: 'a copy',
      operation: 'backup',
      inputFrom: answers => ({ to: `${answers.get('status').home}/copy.db` }),
    },
    {
      name: 'a copy in the place of another',
      operation: 'backup',
      inputFrom: answers => ({ to: `${answers.get('status').home}/copy.db` }),
      expect: ({ error }) => expect(error).toBeDefined(),
    },
    {
      name: 'a copy over the last one',
      operation: 'backup',
      inputFrom: answers => ({ to: `${answers.get('status').home}/copy.db`, overwrite: true }),
      expect: ({ result }) => expect(result.entries).toBeGreaterThan(0),
    },
    {
      name: 'a copy over a text (QE-017)',
      operation: 'backup',
      input: { to: `${docs}/decay.md`, overwrite: true },
      expect: ({ error }) =>
        expect(error).toMatchObject({ code: 'conflict', message: expect.stringMatching(/no backup/) }),
    },
    {
      name: 'the text is still there (QE-017)',
      operation: 'add',
      input: { paths: [docs] },
      expect: ({ result }) => expect(result).toMatchObject({ updated: 0, errors: [] }),
    },
    {
      name: 'an agent may not copy',
      operation: 'backup',
      viewer: 'ana',
      input: { to: 'copy.db' },
      expect: ({ error }) => expect(error.code).toBe('denied'),
    },
    { name: 'lenses', operation: 'lenses', input: {} },
    {
      name: 'a briefing for an assistant',
      operation: 'brief',
      viewer: 'ben',
      input: {},
      expect: ({ result }) => expect(result).toMatchObject({ entries: 1, text: expect.stringContaining('1 entries') }),
    },
    {
      name: 'mirror a collection where there are no vectors',
      operation: 'mirror',
      input: { collection: 'notes', to: 'qdrant', url: 'http://127.0.0.1:9' },
      expect: ({ error }) => expect(error).toMatchObject({ code: expect.stringMatching(/conflict|provider_failed/) }),
    },
    {
      name: 'list the models where there is none',
      operation: 'models',
      input: {},
      expect: ({ result }) => expect(result).toMatchObject({ models: [] }),
    },
    {
      name: 'try a model that is not there',
      operation: 'check_model',
      input: { folder: '/nowhere' },
      expect: ({ error }) => expect(error).toMatchObject({ code: 'model_invalid' }),
    },
    {
      name: 'use a model where the environment names none',
      operation: 'use_model',
      input: { folder: '/nowhere' },
      expect: ({ error }) =>
        expect(error).toMatchObject({ code: 'conflict', message: expect.stringMatching(/config.json/) }),
    },
    { name: 'suggest', operation: 'suggest', input: { prefix: 'R' } },
    { name: 'doctor', operation: 'doctor', input: {}, expect: ({ result }) => expect(result.ok).toBe(true) },
    {
      name: 'an unknown operation',
      operation: 'qurey',
      input: {},
      expect: ({ error }) => expect(error).toMatchObject({ code: 'unknown_operation', details: { near: ['query'] } }),
    },
  ]
}
