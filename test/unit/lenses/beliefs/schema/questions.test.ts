/** The questions beside a query. */
import { describe, expect, it } from 'vitest'
import {
  checkBatch,
  checkContextQuery,
  checkContradictions,
  checkDerivation,
  checkExplain,
  checkFacets,
  checkGet,
  checkSimilar,
} from './checks.ts'
import { refusal, reported } from './faults.ts'

const REQUESTER = { id: 'me', trustGraph: null }
const LOCAL = { local: true, federated: false, network: false, nodes: null }

describe('explain', () => {
  it('has a belief and a query, whose faults are reported with their places (BQ-110, BQ-186)', () => {
    const { beliefId, query } = checkExplain({ belief_id: 'b', query: { semantic: 'bees' } }, REQUESTER)
    expect([beliefId, query.semantic?.base]).toEqual(['b', 'bees'])
    const wrong = { query: { filters: ['best'], semantic: '' } }
    expect(reported(() => checkExplain(wrong, REQUESTER))).toEqual([
      'query.filters[0]: unknown_value',
      'belief_id: required',
    ])
    const foreign = { belief_id: 'b', query: { semantic: 'x', context: { requester_id: 'you' } } }
    expect(refusal(() => checkExplain(foreign, REQUESTER)).code).toBe('UNAUTHORIZED')
  })
})

describe('facets', () => {
  it('are of known fields (BQ-171)', () => {
    const input = { query: { semantic: 'x' }, fields: ['visibility', 'domains', 'visibility'] }
    expect(checkFacets(input, REQUESTER).fields).toEqual(['visibility', 'domains'])
    expect(reported(() => checkFacets({ ...input, fields: ['mood'] }, REQUESTER))).toEqual(['fields[0]: unknown_value'])
    expect(refusal(() => checkFacets({ ...input, fields: ['mood'] }, REQUESTER)).code).toBe('INVALID_QUERY')
  })
})

describe('similar', () => {
  it('has the defaults of the specification (BQ-172)', () => {
    expect(checkSimilar({ belief_id: 'b' }, REQUESTER)).toMatchObject({
      beliefId: 'b',
      limit: 20,
      scope: LOCAL,
      includeSameHolder: false,
      minSimilarity: 0.7,
      context: { requesterId: 'me', trustWeight: 0.5 },
    })
    const options = { limit: 5, include_same_holder: true, min_similarity: -1, scope: { network: true } }
    expect(checkSimilar({ belief_id: 'b', options }, REQUESTER)).toMatchObject({
      limit: 5,
      includeSameHolder: true,
      minSimilarity: -1,
      scope: { local: false, network: true },
    })
    expect(reported(() => checkSimilar({ options: { min_similarity: 2, offset: 1 } }, REQUESTER))).toEqual([
      'options.min_similarity: range',
      'options.offset: unknown_field',
      'belief_id: required',
    ])
  })
})

describe('contradictions', () => {
  it('may have a bound on confidence (BQ-044, BQ-173)', () => {
    expect(checkContradictions({ belief_id: 'b' }, REQUESTER)).toMatchObject({
      limit: 20,
      scope: LOCAL,
      confidence: [],
    })
    expect(checkContradictions({ belief_id: 'b', options: { min_confidence: 0.4 } }, REQUESTER).confidence).toEqual([
      { of: 'overall', bound: 0.4, strict: false },
    ])
    expect(reported(() => checkContradictions({ belief_id: 'b', options: { min_confidence: 4 } }, REQUESTER))).toEqual([
      'options.min_confidence: range',
    ])
  })
})

describe('a batch', () => {
  it('has 1 to 20 queries, which are not looked at yet (BQ-175, BQ-191)', () => {
    const queries = Array.from({ length: 20 }, () => 'not a query')
    expect(checkBatch({ queries })).toEqual(queries)
    expect(reported(() => checkBatch({ queries: [...queries, ''] }))).toEqual(['queries: too_complex'])
    expect(reported(() => checkBatch({ queries: [] }))).toEqual(['queries: range'])
    expect(reported(() => checkBatch({}))).toEqual(['queries: required'])
  })
})

describe('a context query', () => {
  it('is a query with a purpose and a budget (BQ-176)', () => {
    const checked = checkContextQuery(
      { semantic: 'bees', purpose: 'verify', max_tokens: 500, options: { limit: 7 } },
      REQUESTER,
    )
    expect(checked).toMatchObject({ purpose: 'verify', maxTokens: 500, targetTokens: 500 })
    expect([checked.query.semantic?.base, checked.query.options.limit]).toEqual(['bees', 7])
    const wrong = { semantic: 'bees', purpose: 'gossip', max_tokens: 0, mood: 1 }
    expect(reported(() => checkContextQuery(wrong, REQUESTER))).toEqual([
      'purpose: unknown_value',
      'max_tokens: range',
      'mood: unknown_field',
    ])
    const over = { semantic: 'bees', purpose: 'answer', max_tokens: 10, target_tokens: 11 }
    expect(reported(() => checkContextQuery(over, REQUESTER))).toEqual(['target_tokens: range'])
    expect(reported(() => checkContextQuery({}, REQUESTER))).toEqual([
      'semantic: required',
      'purpose: required',
      'max_tokens: required',
    ])
  })

  it('without a text needs a filter, like a query (BQ-041, BQ-176)', () => {
    const input = { semantic: '', purpose: 'answer', max_tokens: 10 }
    expect(reported(() => checkContextQuery(input, REQUESTER))).toEqual(['semantic: empty_query'])
    expect(checkContextQuery({ ...input, filters: 'recent' }, REQUESTER).query.semantic).toBeNull()
  })
})

describe('questions about one belief', () => {
  it('have bounds and defaults (BQ-005, BQ-088, BQ-089)', () => {
    expect(checkGet({ belief_id: 'b' })).toEqual({ belief_id: 'b' })
    expect(checkDerivation({ belief_id: 'b', max_depth: 10 })).toEqual({ belief_id: 'b', max_depth: 10 })
    expect(reported(() => checkDerivation({ belief_id: 'b', max_depth: 11 }))).toEqual(['max_depth: range'])
  })
})
