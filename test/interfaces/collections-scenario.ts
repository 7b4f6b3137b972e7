/** The lens collections at every interface, by the rules of `scenario.ts`, over what `COLLECTED` holds. */
import { expect } from 'vitest'
import { by, refused, type Step, step } from './scenario.ts'

type Json = Step extends { expect?: (outcome: infer T) => void } ? T : never

const idsOf = ({ result }: Json): readonly string[] => result.results.map((each: Json) => each.id)
const wrong =
  (parameter: string): NonNullable<Step['expect']> =>
  ({ error }) =>
    expect(JSON.stringify(error)).toContain(parameter)

export const COLLECTED = [
  entry('i1', 'items', 'MCP servers now stream their answers', { title: 'Streaming in MCP', date: '2026-02-27' }),
  entry('i2', 'items', 'A server for files over MCP', {
    title: 'File server',
    date: '2026-01-10',
    source_type: 'docs',
  }),
  entry('i3', 'items', 'Notes on MCP servers without a day', { title: 'Undated', url: 'https://example.org/undated' }),
  entry('a1', 'analysis', 'What streaming means for MCP servers', {
    item_id: 'i1',
    analyzed_at: '2026-02-28',
    actionability: 'high',
  }),
  { ...entry('a2', 'analysis', 'MCP servers for all to see', { title: 'Open' }), visibility: 'public' },
]

function entry(id: string, collection: string, content: string, metadata: Readonly<Record<string, string>>) {
  return { id, collection, content, title: metadata['title'] ?? id, metadata }
}

/** A process that loads its model on a busy machine may take longer than answers are waited for. */
const ASKED = { query: 'MCP servers', timeout_ms: 120_000 }

export const COLLECTIONS_STEPS: readonly Step[] = [
  step('ask', 'collections.query', ASKED, ({ result }) => expect(result.results).toHaveLength(5)),
  step(
    'why the first is first',
    'collections.explain',
    answers => ({ query: { query: 'MCP servers' }, id: answers.get('ask').results[0].id }),
    { rank: 1, dropped: null },
  ),
  step('count', 'collections.count', { query: 'MCP servers' }, { count: 5, exact: true }),
  step('watching has no whole answer', 'collections.watch', { query: 'MCP servers' }, refused('invalid_argument')),
  step('the last week', 'collections.query', { ...ASKED, days: 7, undated: 'exclude' }),
  step('from and until', 'collections.query', {
    ...ASKED,
    since: '2026-01-01',
    until: '2026-01-31',
    collections: ['items'],
  }),
  step('folded', 'collections.query', { ...ASKED, fold: true, hybrid: true }),
  step('by source', 'collections.query', { ...ASKED, source: 'docs' }),
  step('by actionability', 'collections.query', { ...ASKED, actionability: 'high', min_score: 0.01 }),
  step('a first page', 'collections.query', { ...ASKED, limit: 2 }, ({ result }) =>
    expect(result.results).toHaveLength(2),
  ),
  step('a second page', 'collections.query', { ...ASKED, limit: 2, offset: 2 }),
  by(
    'ana',
    step('an agent sees what is public', 'collections.query', ASKED, outcome => expect(idsOf(outcome)).toHaveLength(1)),
  ),
  step('a collection that is none', 'collections.query', { ...ASKED, collections: ['items', 'nothing'] }),
  by(
    'ana',
    step('no collection that is one', 'collections.query', { ...ASKED, collections: ['nothing'] }, () => {}),
  ),
  step('ask nothing', 'collections.query', { query: ' ' }, wrong('query')),
  step('a day that is none', 'collections.query', { ...ASKED, since: 'yesterday-ish' }, wrong('since')),
  step('days against since', 'collections.query', { ...ASKED, days: 3, since: '2026-01-01' }, () => {}),
  step('less than no days', 'collections.query', { ...ASKED, days: -1 }, wrong('days')),
  step('far too many', 'collections.query', { ...ASKED, n_results: 1_000_000 }, wrong('n_results')),
  step('a field that is none', 'collections.query', { ...ASKED, foo: 1 }, wrong('foo')),
  step('a store that is none', 'collections.query', { ...ASKED, store: 'nowhere' }, wrong('nowhere')),
  step(
    'as Markdown',
    'collections.format',
    answers => ({
      results: answers.get('ask')?.results ?? [],
      query: 'MCP servers',
      lang: 'en',
      urls: true,
    }),
    ({ result }) => expect(result.markdown).toContain('MCP servers'),
  ),
  by('ana', step('as Markdown, for an agent', 'collections.format', { results: [], query: 'nada' })),
  {
    // CO-032, CO-048
    name: 'as Markdown, in the language of the question',
    operation: 'collections.format',
    input: { results: [], query: 'what do agents remember' },
    expect: ({ result }) => expect(result.markdown).toContain('No results found for: "what do agents remember"'),
  },
  step('as Markdown, wrongly', 'collections.format', { results: [{}], query: 'x' }, wrong('results')),
  step('in no language', 'collections.format', { results: [], query: 'x', lang: 'la' }, wrong('lang')),
]
