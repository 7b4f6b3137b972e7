/**
 * The lens context at every interface, by the rules of `scenario.ts`, over a small project beside the store. Its answers come in an
 * envelope, also where something is wrong.
 */
import { expect } from 'vitest'
import type { Step } from './scenario.ts'

type Json = Step extends { expect?: (outcome: infer T) => void } ? T : never
type Expectation = NonNullable<Step['expect']>
type More = Pick<Step, 'input' | 'inputFrom' | 'viewer'>

const done: Expectation = ({ result }) => expect(result).toMatchObject({ status: 'success', errors: null })

/** `code` of what is wrong with `field`. */
function refused(field: string, code?: string): Expectation {
  return ({ result }) => {
    expect(result).toMatchObject({ status: 'error', result: null, errors: { [field]: expect.any(Array) } })
    if (code !== undefined) expect(result.errors[field][0].code).toBe(code)
  }
}

function step(name: string, path: string, more: More = {}, check: Expectation = done): Step {
  return { name, operation: `context.${path}`, input: {}, ...more, expect: check }
}

/** Id of a concept, by its name in a listing. */
function idOf(answers: ReadonlyMap<string, Json>, name: string): number {
  return answers.get('all concepts').result.concepts.find((each: Json) => each.name === name).id
}

const urlOf = (answers: ReadonlyMap<string, Json>): string => answers.get('register files').result.files[0].url

const created = (answers: ReadonlyMap<string, Json>): number => answers.get('create a concept').result.id

export const CONTEXT_STEPS: readonly Step[] = [
  step('nothing is there yet', 'query', { input: { query: 'login' } }, () => {}),
  step('make the part for files', 'body_init'),
  step('make the part for concepts', 'mind_init'),
  step('register files', 'body_files_add', { input: { path: 'src' } }),
  step('register what is not there', 'body_files_add', { input: { path: 'nowhere' } }, () => {}),
  step('register what is outside', 'body_files_add', { input: { path: '../..' } }, () => {}),
  step('register nothing', 'body_files_add', {}, refused('path')),
  step(
    'an agent reads no files',
    'body_files_add',
    { viewer: 'ana', input: { path: 'src' } },
    refused('body', 'denied'),
  ),
  step('compare', 'body_scan', { input: { dry_run: true } }),
  step('index texts', 'body_fts_index'),
  step('search texts', 'body_fts_search', { input: { query: 'normalise' } }),
  step('search texts for nothing', 'body_fts_search', { input: { query: ' ' } }, refused('query')),
  step('search texts, for an agent', 'body_fts_search', { viewer: 'ana', input: { query: 'normalise' } }, () => {}),
  step('index the code', 'index', { input: { wait: true } }),
  step('index it again', 'index', {}),
  step('index wrongly', 'index', { input: { force: 'yes' } }, refused('force')),
  step('all concepts', 'mind_concepts_list', {}, ({ result }) =>
    expect(result.result.concepts.length).toBeGreaterThan(5),
  ),
  step('of one type', 'mind_concepts_list', { input: { type: 'Function' } }),
  step('ask', 'query', { input: { query: 'LoginService', mode: 'exact', depth: 2 } }),
  step(
    'ask by words and meaning',
    'query',
    { input: { query: 'LoginService', mode: 'hybrid', explain: true } },
    () => {},
  ),
  step(
    'ask within so many tokens',
    'query',
    { input: { query: 'LoginService', mode: 'exact', max_tokens: 300, snippet: 'head' } },
    () => {},
  ),
  {
    name: 'why it is there',
    operation: 'context.explain',
    inputFrom: answers => ({
      query: { query: 'LoginService', mode: 'exact' },
      id: `concept:${idOf(answers, 'LoginService')}`,
    }),
    expect: ({ result }) => expect(result).toMatchObject({ rank: 1, dropped: null }),
  },
  {
    name: 'how many there are',
    operation: 'context.count',
    input: { query: 'LoginService', depth: 0 },
    expect: ({ result }) => expect(result).toMatchObject({ exact: true, verdict: 'answered' }),
  },
  {
    name: 'ask what changes, in one answer',
    operation: 'context.watch',
    input: { query: 'LoginService' },
    expect: ({ error }) => expect(error.code).toBe('invalid_argument'),
  },
  step('ask, as an agent', 'query', { viewer: 'ana', input: { query: 'LoginService', mode: 'exact' } }, () => {}),
  step('ask nothing', 'query', { input: { query: '' } }, refused('query')),
  step('ask in a mode that is none', 'query', { input: { query: 'x', mode: 'vague' } }, refused('mode')),
  step('ask with several faults', 'query', { input: { query: 'x', depth: 'deep', limit: -1 } }, refused('depth')),
  step('where it is defined', 'definition', { input: { name: 'normalise' } }),
  step('where it is defined, by id', 'definition', { inputFrom: answers => ({ id: idOf(answers, 'normalise') }) }),
  step('what is defined nowhere', 'definition', { input: { name: 'nowhere' } }, () => {}),
  step('who names it', 'references', { input: { name: 'normalise' } }),
  step('who names it, wrongly', 'references', { input: { name: 'normalise', limit: 'all' } }, refused('limit')),
  step('who calls it', 'callers', { input: { name: 'normalise', depth: 2 } }),
  step('who calls nothing', 'callers', {}, ({ result }) => expect(result.status).toBe('error')),
  step('create a concept', 'mind_concepts_create', { input: { name: 'Session', type: 'Idea' } }),
  step('create many', 'mind_concepts_create_many', {
    input: {
      concepts: [
        { name: 'Token', type: 'Idea' },
        { name: 'Cookie', type: 'Idea', visibility: 'public' },
      ],
    },
  }),
  step(
    'create many, one of them wrong',
    'mind_concepts_create_many',
    {
      input: {
        concepts: [
          { name: 'Fine', type: 'Idea' },
          { name: '', type: 'Idea' },
        ],
      },
    },
    () => {},
  ),
  step('create none', 'mind_concepts_create', { input: { name: 3 } }, refused('name')),
  step('read a concept', 'mind_concepts_get', { inputFrom: answers => ({ id: created(answers) }) }),
  step(
    'read a hidden concept',
    'mind_concepts_get',
    { viewer: 'ana', inputFrom: answers => ({ id: created(answers) }) },
    refused('id', 'not_found'),
  ),
  step(
    'read a concept that is not there',
    'mind_concepts_get',
    { viewer: 'ana', input: { id: 99_999 } },
    refused('id', 'not_found'),
  ),
  step('concepts for an agent', 'mind_concepts_list', { viewer: 'ana' }),
  step('change a concept', 'mind_concepts_update', {
    inputFrom: answers => ({ id: created(answers), type: 'Notion' }),
  }),
  step('change none', 'mind_concepts_update', { input: { id: 99_999, type: 'Notion' } }, refused('id', 'not_found')),
  step('link two', 'mind_edges_create', {
    inputFrom: answers => ({
      source: created(answers),
      target: idOf(answers, 'LoginService'),
      relation: 'ABOUT',
      weight: 0.5,
    }),
  }),
  step('link many', 'mind_edges_create_many', {
    inputFrom: answers => ({
      edges: [{ source: created(answers), target: idOf(answers, 'normalise'), relation: 'ABOUT' }],
    }),
  }),
  step(
    'link to nothing',
    'mind_edges_create',
    { inputFrom: answers => ({ source: created(answers), target: 99_999, relation: 'ABOUT' }) },
    () => {},
  ),
  step('read a link', 'mind_edges_get', { inputFrom: answers => ({ id: answers.get('link two').result.id }) }),
  step(
    'read a hidden link',
    'mind_edges_get',
    { viewer: 'ana', inputFrom: answers => ({ id: answers.get('link two').result.id }) },
    refused('id', 'not_found'),
  ),
  step('links', 'mind_edges_list', { inputFrom: answers => ({ source: created(answers) }) }),
  step('links of no relation', 'mind_edges_list', { input: { relation: 7 } }, refused('relation')),
  step('change a link', 'mind_edges_update', {
    inputFrom: answers => ({ id: answers.get('link two').result.id, weight: 0.9 }),
  }),
  step('delete a link', 'mind_edges_delete', { inputFrom: answers => ({ id: answers.get('link two').result.id }) }),
  step(
    'delete it again',
    'mind_edges_delete',
    { inputFrom: answers => ({ id: answers.get('link two').result.id }) },
    () => {},
  ),
  step('say where it stands', 'mind_provenance_create', {
    inputFrom: answers => ({ concept_id: created(answers), file_url: urlOf(answers) }),
  }),
  step(
    'say where, wrongly',
    'mind_provenance_create',
    { inputFrom: answers => ({ concept_id: created(answers), file_url: 'src' }) },
    refused('file_url'),
  ),
  step('where it stands', 'mind_provenance_list', { inputFrom: answers => ({ concept_id: created(answers) }) }),
  step('it stands there no more', 'mind_provenance_delete', {
    inputFrom: answers => ({ concept_id: created(answers), file_url: urlOf(answers) }),
  }),
  step('extract', 'extract', {
    inputFrom: answers => ({
      file_url: urlOf(answers),
      concepts: [
        { name: 'Trust', type: 'Idea' },
        { name: 'Doubt', type: 'Idea' },
      ],
      edges: [{ source_name: 'Trust', target_name: 'Doubt', relation: 'OPPOSES', weight: 0.4 }],
    }),
  }),
  step(
    'extract from a file that is none',
    'extract',
    { input: { file_url: 'file:///nowhere', concepts: [], edges: [] } },
    ({ result }) => expect(result.status).toBe('error'),
  ),
  step('search concepts', 'mind_search', { input: { query: 'trust' } }),
  step('search concepts for nothing', 'mind_search', {}, refused('query')),
  step('a summary', 'graph_summary'),
  step('a summary, for an agent', 'graph_summary', { viewer: 'ana' }),
  step('neighbours', 'graph_neighbors', { inputFrom: answers => ({ id: idOf(answers, 'normalise') }) }),
  step('neighbours of none', 'graph_neighbors', { input: { id: 99_999 } }, refused('id', 'not_found')),
  step('a drawing', 'graph_viz', { input: { format: 'mermaid', limit: 5 } }),
  step('a drawing in no form', 'graph_viz', { input: { format: 'oil' } }, refused('format')),
  step('delete a concept', 'mind_concepts_delete', { inputFrom: answers => ({ id: created(answers) }) }),
  step(
    'it is gone',
    'mind_concepts_get',
    { inputFrom: answers => ({ id: created(answers) }) },
    refused('id', 'not_found'),
  ),
]
