/** The lens c64 at every interface, by the rules of `scenario.ts`. */
import { expect } from 'vitest'
import type { Step } from './scenario.ts'

const POKE = { query: 'What does POKE 53280, 14 do?' }
const wrong =
  (field: string): NonNullable<Step['expect']> =>
  ({ error }) =>
    expect(JSON.stringify(error)).toContain(field)

export const C64_STEPS: readonly Step[] = [
  {
    name: 'what numbers stand for',
    operation: 'c64.enrich',
    input: POKE,
    expect: ({ result }) => expect(result.filter_tags).toEqual(['$D020', 'LIGHT BLUE']),
  },
  { name: 'the question as it is', operation: 'c64.enrich', input: { ...POKE, raw: true } },
  { name: 'the same by its other name', operation: 'enrich', input: { query: '$D418' } },
  { name: 'to an agent', operation: 'c64.enrich', viewer: 'ana', input: { query: 'JSR $FFD2' } },
  { name: 'nothing', operation: 'c64.enrich', input: { query: ' ' }, expect: wrong('query') },
  { name: 'a list', operation: 'c64.enrich', input: { query: ['$D020'] }, expect: wrong('query') },
  {
    name: 'ask',
    operation: 'c64.query',
    input: { ...POKE, formatted: true },
    expect: ({ result }) => expect(result.results.length).toBeGreaterThan(0),
  },
  {
    name: 'why the first is first',
    operation: 'c64.explain',
    inputFrom: answers => ({ query: POKE, id: answers.get('ask').results[0].id }),
    expect: ({ result }) => expect(result).toMatchObject({ rank: 1, dropped: null }),
  },
  { name: 'count', operation: 'c64.count', input: POKE, expect: ({ result }) => expect(result.exact).toBe(true) },
  {
    name: 'watching has no whole answer',
    operation: 'c64.watch',
    input: POKE,
    expect: ({ error }) => expect(error.code).toBe('invalid_argument'),
  },
  { name: 'ask, raw', operation: 'c64.query', input: { ...POKE, raw: true, limit: 3 } },
  {
    name: 'ask, fused',
    operation: 'c64.query',
    input: { query: 'sprite collision register', fusion: 'rrf', limit: 5, fetch_limit: 9, min_score_ratio: 0.1 },
  },
  { name: 'ask, as an agent', operation: 'c64.query', viewer: 'ana', input: { ...POKE, limit: 2 } },
  { name: 'ask too little', operation: 'c64.query', input: { ...POKE, limit: 0 }, expect: wrong('limit') },
  {
    name: 'ask in a way that is none',
    operation: 'c64.query',
    input: { ...POKE, fusion: 'cold' },
    expect: wrong('fusion'),
  },
  {
    name: 'a field that is none',
    operation: 'c64.query',
    viewer: 'ana',
    input: { ...POKE, foo: 1 },
    expect: wrong('foo'),
  },
]
