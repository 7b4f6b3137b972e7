/** The lens collections at every interface, by the rules of `scenario.ts`, over what `COLLECTED` holds. */
import { expect } from 'vitest'
import type { Step } from './scenario.ts'

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
  {
    name: 'ask',
    operation: 'collections.query',
    input: ASKED,
    expect: ({ result }) => expect(result.results).toHaveLength(5),
  },
  {
    name: 'why the first is first',
    operation: 'collections.explain',
    inputFrom: answers => ({ query: { query: 'MCP servers' }, id: answers.get('ask').results[0].id }),
    expect: ({ result }) => expect(result).toMatchObject({ rank: 1, dropped: null }),
  },
  {
    name: 'count',
    operation: 'collections.count',
    input: { query: 'MCP servers' },
    expect: ({ result }) => expect(result).toMatchObject({ count: 5, exact: true }),
  },
  {
    name: 'watching has no whole answer',
    operation: 'collections.watch',
    input: { query: 'MCP servers' },
    expect: ({ error }) => expect(error.code).toBe('invalid_argument'),
  },
  { name: 'the last week', operation: 'collections.query', input: { ...ASKED, days: 7, undated: 'exclude' } },
  {
    name: 'from and until',
    operation: 'collections.query',
    input: { ...ASKED, since: '2026-01-01', until: '2026-01-31', collections: ['items'] },
  },
  { name: 'folded', operation: 'collections.query', input: { ...ASKED, fold: true, hybrid: true } },
  { name: 'by source', operation: 'collections.query', input: { ...ASKED, source: 'docs' } },
  {
    name: 'by actionability',
    operation: 'collections.query',
    input: { ...ASKED, actionability: 'high', min_score: 0.01 },
  },
  {
    name: 'a first page',
    operation: 'collections.query',
    input: { ...ASKED, limit: 2 },
    expect: ({ result }) => expect(result.results).toHaveLength(2),
  },
  { name: 'a second page', operation: 'collections.query', input: { ...ASKED, limit: 2, offset: 2 } },
  {
    name: 'an agent sees what is public',
    operation: 'collections.query',
    viewer: 'ana',
    input: ASKED,
    expect: outcome => expect(idsOf(outcome)).toHaveLength(1),
  },
  {
    name: 'a collection that is none',
    operation: 'collections.query',
    input: { ...ASKED, collections: ['items', 'nothing'] },
  },
  {
    name: 'no collection that is one',
    operation: 'collections.query',
    viewer: 'ana',
    input: { ...ASKED, collections: ['nothing'] },
    expect: () => {},
  },
  { name: 'ask nothing', operation: 'collections.query', input: { query: ' ' }, expect: wrong('query') },
  {
    name: 'a day that is none',
    operation: 'collections.query',
    input: { ...ASKED, since: 'yesterday-ish' },
    expect: wrong('since'),
  },
  {
    name: 'days against since',
    operation: 'collections.query',
    input: { ...ASKED, days: 3, since: '2026-01-01' },
    expect: () => {},
  },
  { name: 'less than no days', operation: 'collections.query', input: { ...ASKED, days: -1 }, expect: wrong('days') },
  {
    name: 'far too many',
    operation: 'collections.query',
    input: { ...ASKED, n_results: 1_000_000 },
    expect: wrong('n_results'),
  },
  { name: 'a field that is none', operation: 'collections.query', input: { ...ASKED, foo: 1 }, expect: wrong('foo') },
  {
    name: 'a store that is none',
    operation: 'collections.query',
    input: { ...ASKED, store: 'nowhere' },
    expect: wrong('nowhere'),
  },
  {
    name: 'as Markdown',
    operation: 'collections.format',
    inputFrom: answers => ({
      results: answers.get('ask')?.results ?? [],
      query: 'MCP servers',
      lang: 'en',
      urls: true,
    }),
    expect: ({ result }) => expect(result.markdown).toContain('MCP servers'),
  },
  {
    name: 'as Markdown, for an agent',
    operation: 'collections.format',
    viewer: 'ana',
    input: { results: [], query: 'nada' },
  },
  {
    // CO-032, CO-048
    name: 'as Markdown, in the language of the question',
    operation: 'collections.format',
    input: { results: [], query: 'what do agents remember' },
    expect: ({ result }) => expect(result.markdown).toContain('No results found for: "what do agents remember"'),
  },
  {
    name: 'as Markdown, wrongly',
    operation: 'collections.format',
    input: { results: [{}], query: 'x' },
    expect: wrong('results'),
  },
  {
    name: 'in no language',
    operation: 'collections.format',
    input: { results: [], query: 'x', lang: 'la' },
    expect: wrong('lang'),
  },
]
