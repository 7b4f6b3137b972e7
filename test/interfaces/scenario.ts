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

type Fields = Readonly<Record<string, unknown>>

/** `input` may be made from earlier answers; `expected` is a part of the result, or a check of the outcome. */
export function step(
  name: string,
  operation: string,
  input?: Fields | NonNullable<Step['inputFrom']>,
  expected?: Fields | readonly unknown[] | NonNullable<Step['expect']>,
): Step {
  return {
    ...{ name, operation },
    ...(typeof input === 'function' ? { inputFrom: input } : { input }),
    ...(typeof expected === 'function' && { expect: expected }),
    ...(typeof expected === 'object' && { expect: ({ result }) => expect(result).toMatchObject(expected) }),
  }
}

/** An error of this code, or with these fields. */
export function refused(error: string | object): NonNullable<Step['expect']> {
  return outcome => expect(outcome.error).toMatchObject(typeof error === 'string' ? { code: error } : error)
}

export function by(viewer: string, asked: Step): Step {
  return { ...asked, viewer }
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
    step('an empty store', 'list', {}, ({ result }) => expect(result).toEqual({ items: [], total: 0, cursor: null })),
    step(
      'nothing relevant where nothing is known',
      'query',
      { text: 'half life' },
      { items: [], verdict: 'nothing_relevant', verdict_by: 'words', nearest: [] },
    ),
    step('add a folder', 'add', { paths: [docs] }, { added: 2, updated: 0, errors: [] }),
    step('add it again', 'add', { paths: [docs] }, { added: 0, unchanged: 2 }),
    step(
      'nothing has changed below it',
      'sync',
      {},
      {
        ...{ added: 0, updated: 0, deleted: 0 },
        paths: [{ path: docs, missing: false, files: 2, changed: 0, added: 0, deleted: 0 }],
      },
    ),
    step(
      'a path that was not added is not synced',
      'sync',
      { paths: ['/nowhere'] },
      refused({ code: 'invalid_argument', details: { field: 'paths.0' } }),
    ),
    by('ana', step('an agent syncs nothing', 'sync', {}, refused('denied'))),
    step(
      'write notes',
      'put',
      {
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
      ({ result }) =>
        expect(result).toEqual({
          ids: ['n1', 'n2', 'n3'],
          created: 3,
          updated: 0,
          unchanged: 0,
          embedding_error: null,
        }),
    ),
    step(
      'write one of them again',
      'put',
      { entries: [{ id: 'n3', title: 'Three', content: 'Shared with everybody.', visibility: 'public' }] },
      { created: 0, updated: 1 },
    ),
    by(
      'ana',
      step(
        'an agent writes',
        'put',
        { entries: [{ id: 'n1', content: 'Ana keeps bees; the half life of honey is unknown.' }] },
        { created: 1 },
      ),
    ),
    step('ask, with reasons and trace', 'query', { text: 'half life', explain: true, trace: true }, ({ result }) => {
      expect(result.verdict).toBe('answered')
      expect(result.items.map((item: Json) => item.title)).toContain('Decay')
      expect(result.items[0].explanation.value).toBe(result.items[0].score)
    }),
    by(
      'ana',
      step(
        'an agent writes a long text',
        'put',
        { entries: [{ id: 'kiln', title: 'Kiln', content: LONG, kind: 'document' }] },
        { created: 1 },
      ),
    ),
    by(
      'ana',
      step(
        'ask for several passages of each (QE-008)',
        'query',
        { text: 'glaze temperature', passages: 2, explain: true },
        ({ result }) => {
          const [item] = result.items
          expect(item.id).toBe('kiln')
          expect(item.passages.map(({ section }: Json) => section.at(-1))).toEqual(['Glaze', 'Firing'])
          const [first, second] = item.passages
          expect(first).toMatchObject(item.excerpt)
          expect(first.score).toBeGreaterThan(second.score)
          expect(second.explanation.value).toBe(second.score)
          expect(second.end_line).toBeLessThan(first.start_line)
        },
      ),
    ),
    by(
      'ana',
      step(
        'ask for more passages than there can be',
        'query',
        { text: 'glaze', passages: 11 },
        refused({ code: 'invalid_argument', details: { field: 'passages' } }),
      ),
    ),
    by(
      'ana',
      step(
        'ask for several passages where a lens scores none',
        'query',
        { text: 'glaze', lens: 'conversations', passages: 2 },
        refused({ code: 'invalid_argument', details: { field: 'passages' } }),
      ),
    ),
    by(
      'ana',
      step(
        'a result has its best passage without being asked (QE-008)',
        'query',
        { text: 'glaze temperature' },
        ({ result }) => {
          expect(result.items.length).toBeGreaterThan(0)
          for (const { excerpt, passages } of result.items) {
            expect(passages).toEqual([{ ...excerpt, score: expect.any(Number) }])
          }
        },
      ),
    ),
    by(
      'ana',
      step(
        'ask for passages as results (QE-008)',
        'query',
        { text: 'glaze temperature', group: 'passage', limit: 1, explain: true },
        ({ result }) => {
          expect(result.items.map(({ id, passage }: Json) => [id, passage])).toEqual([['kiln', 3]])
          for (const { excerpt, passages, score, explanation } of result.items) {
            expect(passages).toEqual([{ ...excerpt, score }])
            expect(explanation.value).toBe(score)
          }
          expect(result.items[0].excerpt.section).toEqual(['Glaze'])
          expect(result.cursor).not.toBeNull()
        },
      ),
    ),
    by(
      'ana',
      step(
        'the passages after them (QE-008)',
        'query',
        answers => ({
          text: 'glaze temperature',
          group: 'passage',
          limit: 1,
          cursor: answers.get('ask for passages as results (QE-008)').cursor,
        }),
        ({ result }) => {
          expect(result.items.map(({ id, passage, rank }: Json) => [id, passage, rank])).toEqual([['kiln', 2, 2]])
          expect(result.items[0].excerpt.section).toEqual(['Firing'])
        },
      ),
    ),
    by(
      'ana',
      step(
        'why a passage is there, over another of the same entry (QE-008)',
        'explain',
        {
          query: { text: 'glaze temperature', group: 'passage' },
          ...{ id: 'kiln', passage: 2, over: 'kiln', over_passage: 3 },
        },
        ({ result }) => {
          expect(result).toMatchObject({ id: 'kiln', passage: 2, rank: 2, over: { id: 'kiln', passage: 3, rank: 1 } })
          expect(result.explanation.value).toBe(result.score)
        },
      ),
    ),
    by(
      'ana',
      step(
        'why a passage that the entry does not have',
        'explain',
        { query: { text: 'glaze', group: 'passage' }, id: 'kiln', passage: 9 },
        refused({ code: 'not_found', details: { passage: 9 } }),
      ),
    ),
    by(
      'ana',
      step(
        'why a passage where entries are ranked',
        'explain',
        { query: { text: 'glaze' }, id: 'kiln', passage: 1 },
        refused({ code: 'invalid_argument', details: { field: 'passage' } }),
      ),
    ),
    by(
      'ana',
      step('a list of passages (QE-008)', 'query', { text: 'kind:document', group: 'passage' }, ({ result }) => {
        expect(result.mode).toBe('list')
        expect(result.items.map(({ id, passage }: Json) => [id, passage])).toEqual([
          ['kiln', 1],
          ['kiln', 2],
          ['kiln', 3],
        ])
      }),
    ),
    by(
      'ana',
      step('passages like an entry (QE-008)', 'similar', { id: 'n1', limit: 2, group: 'passage' }, ({ result }) =>
        expect(result.items.every(({ passage }: Json) => passage >= 1)).toBe(true),
      ),
    ),
    by(
      'ana',
      step(
        'ask for several passages of a passage',
        'query',
        { text: 'glaze', group: 'passage', passages: 2 },
        refused({ code: 'invalid_argument', details: { field: 'passages' } }),
      ),
    ),
    by(
      'ana',
      step(
        'ask for passages as results where a lens scores none',
        'query',
        { text: 'glaze', lens: 'conversations', group: 'passage' },
        refused({ code: 'invalid_argument', details: { field: 'group' } }),
      ),
    ),
    by(
      'ana',
      step(
        'ask for a group that is none',
        'query',
        { text: 'glaze', group: 'section' },
        refused({ code: 'invalid_argument', details: { field: 'group' } }),
      ),
    ),
    by('ana', step('the long text goes', 'delete', { ids: ['kiln'] })),
    step(
      'ask in Spanish without accents',
      'query',
      { text: 'ninez rapido', filter: { collections: ['notes'] } },
      ({ result }) => expect(result.items.map((item: Json) => item.id)).toEqual(['n1']),
    ),
    by(
      'ana',
      step(
        'an agent sees its own and what is public, and no more',
        'query',
        { text: 'half life shared' },
        ({ result }) => {
          expect(result.items.map((item: Json) => `${item.holder}/${item.id}`).sort()).toEqual(['ana/n1', 'owner/n3'])
        },
      ),
    ),
    by('ben', step('another agent sees only what is public', 'list', {}, { total: 1, items: [{ id: 'n3' }] })),
    by(
      'ben',
      step(
        'a forbidden entry is a missing entry',
        'get',
        { id: 'n2' },
        refused({ code: 'not_found', details: { id: 'n2' } }),
      ),
    ),
    by('ben', step('a missing entry', 'get', { id: 'n9' }, refused({ code: 'not_found', details: { id: 'n9' } }))),
    by(
      'ben',
      step(
        'a use of entries of which one is forbidden is a use of none',
        'touch',
        { ids: ['n3', 'n2'] },
        refused({ code: 'not_found', details: { id: 'n2' } }),
      ),
    ),
    step('a citation counts as use', 'touch', { ids: ['n2', 'n3'] }, ({ result }) =>
      expect(result).toEqual({ touched: 2 }),
    ),
    step('get', 'get', { id: 'n2' }, ({ result }) => {
      expect(result).toMatchObject({
        holder: 'owner',
        audience: { kind: 'private' },
        metadata: { a: { b: [1, null] } },
      })
    }),
    step('the first page of a list', 'list', { order: 'id', limit: 2 }),
    step(
      'the second page',
      'list',
      answers => ({ order: 'id', limit: 2, cursor: answers.get('the first page of a list').cursor }),
      ({ result }) => expect(result.items).toHaveLength(2),
    ),
    step('the first page of an answer', 'query', { text: 'half life the', limit: 1, any: true }, ({ result }) =>
      expect(result.cursor).not.toBeNull(),
    ),
    step(
      'the page after it',
      'query',
      answers => ({
        text: 'half life the',
        limit: 1,
        any: true,
        cursor: answers.get('the first page of an answer').cursor,
      }),
      ({ result }) => expect(result.items[0].rank).toBe(2),
    ),
    step(
      'the cursor of another question',
      'query',
      answers => ({ text: 'caffeine', limit: 1, cursor: answers.get('the first page of an answer').cursor }),
      refused('cursor_mismatch'),
    ),
    step('count what answers', 'count', { text: 'half life' }, { count: expect.any(Number), exact: true }),
    step('why is it there', 'explain', { query: { text: 'half life' }, id: 'n2' }),
    step(
      'why is it not',
      'explain',
      { query: { text: 'half life' }, id: 'n3' },
      { rank: null, dropped: { stage: expect.any(String) } },
    ),
    step('why this over that', 'explain', { query: { text: 'half life' }, id: 'n2', over: 'n3' }),
    step(
      'why something that nobody knows',
      'explain',
      { query: { text: 'half life' }, id: 'n9' },
      refused({ code: 'not_found', details: { id: 'n9' } }),
    ),
    by(
      'ben',
      step(
        'why something hidden',
        'explain',
        { query: { text: 'half life' }, id: 'n2' },
        refused({ code: 'not_found', details: { id: 'n2' } }),
      ),
    ),
    step('similar', 'similar', { id: 'n2', limit: 3 }),
    by(
      'ben',
      step(
        'similar to something hidden',
        'similar',
        { id: 'n2' },
        refused({ code: 'not_found', details: { id: 'n2' } }),
      ),
    ),
    step(
      'watching has no whole answer',
      'watch',
      { text: 'half life' },
      refused({ code: 'invalid_argument', details: { operation: 'watch' } }),
    ),
    step('an entry without a text', 'put', { entries: [{ id: 'n4' }] }, refused('invalid_argument')),
    step('a page of no list', 'list', { cursor: 'nonsense' }, refused('cursor_invalid')),
    step(
      'an order that is none',
      'list',
      { order: 'size' },
      refused({ code: 'invalid_argument', details: { field: 'order' } }),
    ),
    step(
      'a question that breaks the grammar',
      'query',
      { text: 'half "life', syntax: 'strict' },
      refused({ code: 'query_syntax', details: { position: 5 } }),
    ),
    step(
      'a field that is not one',
      'query',
      { text: 'half', limits: 3 },
      refused({ code: 'unknown_field', details: { field: 'limits' } }),
    ),
    step(
      'a limit out of range',
      'query',
      { text: 'half', limit: 0 },
      refused({ code: 'invalid_argument', details: { field: 'limit' } }),
    ),
    step('an unknown lens', 'query', { text: 'half', lens: 'nonsense' }, refused('unknown_lens')),
    step('hostile text', 'query', { text: `'); DROP TABLE entries; -- NEAR(a b) \u0000 \ud83d` }),
    by('ben', step('an agent cannot delete what it does not hold', 'delete', { ids: ['n3'] }, refused('denied'))),
    by('ben', step('what cannot be seen is missing, not denied', 'delete', { ids: ['n2'] }, refused('not_found'))),
    by('ben', step('the public entry is still there', 'get', { id: 'n3' })),
    step('delete', 'delete', { ids: ['n2'] }, ({ result }) => expect(result).toEqual({ deleted: 1 })),
    step('the deleted entry is gone', 'query', { text: 'caffeine' }, ({ result }) =>
      expect(result.verdict).toBe('nothing_relevant'),
    ),
    by('ben', step('status of an agent', 'status', {}, { entries: 1, home: null })),
    step('status', 'status', {}, ({ result }) => expect(result.entries).toBe(5)),
    by('ana', step('an agent may not export', 'export', {}, refused('denied'))),
    step('export', 'export', {}, ({ result }) => expect(result.lines[0]).toEqual({ type: 'querent', version: 1 })),
    step('import the same', 'import', answers => answers.get('export')),
    step('import what is none', 'import', { lines: [{ type: 'nonsense' }] }, ({ error }) =>
      expect(error).toBeDefined(),
    ),
    step('a copy', 'backup', answers => ({ to: `${answers.get('status').home}/copy.db` })),
    step(
      'a copy in the place of another',
      'backup',
      answers => ({ to: `${answers.get('status').home}/copy.db` }),
      ({ error }) => expect(error).toBeDefined(),
    ),
    step(
      'a copy over the last one',
      'backup',
      answers => ({ to: `${answers.get('status').home}/copy.db`, overwrite: true }),
      ({ result }) => expect(result.entries).toBeGreaterThan(0),
    ),
    step(
      'a copy over a text (QE-017)',
      'backup',
      { to: `${docs}/decay.md`, overwrite: true },
      refused({ code: 'conflict', message: expect.stringMatching(/not a backup/) }),
    ),
    step('the text is still there (QE-017)', 'add', { paths: [docs] }, { updated: 0, errors: [] }),
    by('ana', step('an agent may not copy', 'backup', { to: 'copy.db' }, refused('denied'))),
    step('lenses', 'lenses', {}),
    by(
      'ben',
      step('a briefing for an assistant', 'brief', {}, { entries: 1, text: expect.stringContaining('1 entries') }),
    ),
    step(
      'mirror a collection where there are no vectors',
      'mirror',
      { collection: 'notes', to: 'qdrant', url: 'http://127.0.0.1:9' },
      refused({ code: expect.stringMatching(/conflict|provider_failed/) }),
    ),
    step('list the models where there is none', 'models', {}, { models: [] }),
    step('try a model that is not there', 'check_model', { folder: '/nowhere' }, refused('model_invalid')),
    step(
      'use a model where the environment names none',
      'use_model',
      { folder: '/nowhere' },
      refused({ code: 'conflict', message: expect.stringMatching(/config.json/) }),
    ),
    step('suggest', 'suggest', { prefix: 'R' }),
    step('doctor', 'doctor', {}, ({ result }) => expect(result.ok).toBe(true)),
    step('an unknown operation', 'qurey', {}, refused({ code: 'unknown_operation', details: { near: ['query'] } })),
  ]
}
