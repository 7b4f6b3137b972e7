/** The lens c64 at every interface, by the rules of `scenario.ts`. */
import { expect } from 'vitest'
import { by, refused, type Step, step } from './scenario.ts'

const POKE = { query: 'What does POKE 53280, 14 do?' }
const wrong =
  (field: string): NonNullable<Step['expect']> =>
  ({ error }) =>
    expect(JSON.stringify(error)).toContain(field)

export const C64_STEPS: readonly Step[] = [
  step('what numbers stand for', 'c64.enrich', POKE, ({ result }) =>
    expect(result.filter_tags).toEqual(['$D020', 'LIGHT BLUE']),
  ),
  step('the question as it is', 'c64.enrich', { ...POKE, raw: true }),
  step('the same by its other name', 'enrich', { query: '$D418' }),
  by('ana', step('to an agent', 'c64.enrich', { query: 'JSR $FFD2' })),
  step('nothing', 'c64.enrich', { query: ' ' }, wrong('query')),
  step('a list', 'c64.enrich', { query: ['$D020'] }, wrong('query')),
  step('ask', 'c64.query', { ...POKE, formatted: true }, ({ result }) =>
    expect(result.results.length).toBeGreaterThan(0),
  ),
  step('why the first is first', 'c64.explain', answers => ({ query: POKE, id: answers.get('ask').results[0].id }), {
    rank: 1,
    dropped: null,
  }),
  step('count', 'c64.count', POKE, ({ result }) => expect(result.exact).toBe(true)),
  step('watching has no whole answer', 'c64.watch', POKE, refused('invalid_argument')),
  step('ask, raw', 'c64.query', { ...POKE, raw: true, limit: 3 }),
  step('ask, fused', 'c64.query', {
    query: 'sprite collision register',
    fusion: 'rrf',
    limit: 5,
    fetch_limit: 9,
    min_score_ratio: 0.1,
  }),
  by('ana', step('ask, as an agent', 'c64.query', { ...POKE, limit: 2 })),
  step('ask too little', 'c64.query', { ...POKE, limit: 0 }, wrong('limit')),
  step('ask in a way that is none', 'c64.query', { ...POKE, fusion: 'cold' }, wrong('fusion')),
  by('ana', step('a field that is none', 'c64.query', { ...POKE, foo: 1 }, wrong('foo'))),
]
