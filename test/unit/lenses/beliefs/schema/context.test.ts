/** The context and the options: defaults, ranges, clamps, and whose trust it is. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CheckedContext, Requester } from '../../../../../src/lenses/beliefs/schema/filters.ts'
import type { CheckedOptions } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { checkContext, checkOptions, checkQuery, checkScope } from './checks.ts'
import { refusal, reported } from './faults.ts'

const REQUESTER: Requester = { id: 'me', trustGraph: 'friends' }

function read(context: unknown): CheckedContext {
  return checkContext(context, REQUESTER)
}

describe('the requester', () => {
  it('is whom the host knows; a request may say the same or nothing (BQ-024, BQ-066)', () => {
    expect(read({ requester_id: 'me' })).toEqual(read({}))
    expect(read(undefined).requesterId).toBe('me')
  })

  it('is nobody else (BQ-066)', () => {
    for (const requester_id of ['you', 'ME', 'me ', 'owner']) {
      expect(refusal(() => read({ requester_id }))).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    }
  })

  it('is told apart from mistakes, which come first (BQ-066, BQ-186)', () => {
    expect(reported(() => read({ requester_id: 'you', trust_weight: 2 }))).toEqual(['context.trust_weight: range'])
    expect(reported(() => read({ requester_id: 7 }))).toEqual(['context.requester_id: type'])
    expect(reported(() => read({ requester_id: null }))).toEqual(['context.requester_id: type'])
  })
})

describe('the trust graph', () => {
  it.each([undefined, null, 'ref:me', 'ref:friends'])('may be called %s (BQ-065)', trust_graph => {
    expect(read({ trust_graph })).toEqual(read({}))
  })

  it('is no other, with one answer for a foreign and for a missing one (BQ-065)', () => {
    const answers = ['ref:you', 'ref:nobody', 'me', 'ref:', '', 'ref:ME'].map(trust_graph =>
      JSON.stringify(refusal(() => read({ trust_graph }))),
    )
    expect(new Set(answers).size).toBe(1)
    expect(JSON.parse(answers[0] as string)).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(() => checkContext({ trust_graph: 'ref:friends' }, { id: 'me', trustGraph: null })).toThrow()
  })

  it.each([{ owner: 'me', edges: [] }, [{ target: 'x', trust_level: 1 }]])('is not given along: %j (BQ-067)', graph => {
    expect(reported(() => read({ trust_graph: graph }))).toEqual(['context.trust_graph: inline_trust'])
  })

  it.each(['edges', 'trust_levels', 'trust_scores', 'memberships', 'domain_trust', 'reputation'])(
    '%s are not given along (BQ-067)',
    name => {
      const query = { semantic: 'x', [name]: {}, context: { [name]: {} }, options: { [name]: {} } }
      expect(reported(() => checkQuery(query, REQUESTER))).toEqual([
        `${name}: inline_trust`,
        `context.${name}: inline_trust`,
        `options.${name}: inline_trust`,
      ])
      expect(refusal(() => checkQuery(query, REQUESTER)).code).toBe('INVALID_QUERY')
    },
  )
})

describe('trust overrides', () => {
  it.each([
    [{ max_trust_hops: 99 }, 5, 0.7, 1],
    [{ max_trust_hops: 0 }, 1, 0.7, 1],
    [{ max_trust_hops: -3, transitive_damping: 1 }, 1, 0.9, 2],
    [{ transitive_damping: 0 }, 3, 0.1, 1],
    [{ max_trust_hops: 2, transitive_damping: 0.45 }, 2, 0.45, 0],
  ])('of %j come to %d hops and %d, and that is said (BQ-064)', (context, hops, damping, warnings) => {
    const checked = read(context)
    expect([checked.maxTrustHops, checked.transitiveDamping]).toEqual([hops, damping])
    expect(checked.warnings.map(({ code }) => code)).toEqual(Array.from({ length: warnings }, () => 'clamped'))
    expect(checkQuery({ semantic: 'x', context }, REQUESTER).warnings).toEqual(checked.warnings)
  })

  it('are within their ranges, whatever number is asked for (BQ-064)', () => {
    fc.assert(
      fc.property(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), (hops, damping) => {
        const checked = read({ max_trust_hops: hops, transitive_damping: damping })
        expect([1, 2, 3, 4, 5]).toContain(checked.maxTrustHops)
        expect(checked.transitiveDamping).toBeGreaterThanOrEqual(0.1)
        expect(checked.transitiveDamping).toBeLessThanOrEqual(0.9)
        expect(checked.warnings.length > 0).toBe(hops < 1 || hops > 5 || damping < 0.1 || damping > 0.9)
      }),
    )
  })
})

describe('the context refuses', () => {
  it.each<[unknown, string]>([
    [{ trust_weight: 1.01 }, 'context.trust_weight: range'],
    [{ trust_weight: '0.5' }, 'context.trust_weight: type'],
    [{ domain_trust_weight: -0.1 }, 'context.domain_trust_weight: range'],
    [{ max_trust_hops: 2.5 }, 'context.max_trust_hops: range'],
    [{ max_trust_hops: Number.POSITIVE_INFINITY }, 'context.max_trust_hops: range'],
    [{ transitive_damping: Number.NaN }, 'context.transitive_damping: range'],
    [{ query_domains: ['x/'] }, 'context.query_domains[0]: malformed'],
    [{ confidence_weights: { corroboration: -1 } }, 'context.confidence_weights.corroboration: range'],
    [
      { confidence_weights: { corroboration: Number.POSITIVE_INFINITY } },
      'context.confidence_weights.corroboration: range',
    ],
    [{ confidence_weights: zeroDimensions() }, 'context.confidence_weights: zero_sum'],
    [{ ranking_weights: { semantic: -1 } }, 'context.ranking_weights.semantic: range'],
    [{ ranking_weights: { semantic: 0, confidence: 0, trust: 0, recency: 0 } }, 'context.ranking_weights: zero_sum'],
    ['me', 'context: type'],
    [null, 'context: type'],
  ])('%j: %s (BQ-017, BQ-026, BQ-060, BQ-061, BQ-062, BQ-064)', (context, expected) => {
    expect(reported(() => read(context))).toEqual([expected])
  })

  it('weights that leave a list nothing to rank by (BQ-061)', () => {
    const context = { ranking_weights: { semantic: 1, confidence: 0, trust: 0, recency: 0 } }
    expect(reported(() => checkQuery({ context, filters: 'recent', semantic: '' }, REQUESTER))).toEqual([
      'context.ranking_weights: zero_sum',
    ])
    expect(checkQuery({ context, filters: 'recent', semantic: 'x' }, REQUESTER).weights.semantic).toBe(1)
  })
})

describe('the context gives', () => {
  it('normalised domains, each once (BQ-006, BQ-063)', () => {
    expect(read({ query_domains: ['Code:Rust', 'code/rust', 'x'] }).queryDomains).toEqual(['code/rust', 'x'])
  })

  it('weights that are 1 together (BQ-017, BQ-061)', () => {
    const { confidenceWeights, weights } = read({
      confidence_weights: { source_reliability: 0.75 },
      ranking_weights: { trust: 0.3 },
      trust_weight: 1,
    })
    expect(confidenceWeights.source_reliability).toBeCloseTo(0.5, 12)
    expect(weights.trust).toBeCloseTo(0.3, 12)
  })

  it('with words of time only where asked for (BQ-023)', () => {
    const weights = (options: object) => checkQuery({ semantic: 'latest bees', options }, REQUESTER).weights
    expect(weights({}).recency).toBeCloseTo(0.1, 12)
    expect(weights({ temporal_intent: true }).recency).toBeCloseTo(0.2 / 1.1, 12)
    const shutOut = checkQuery({ semantic: 'bees -latest', options: { temporal_intent: true } }, REQUESTER)
    expect(shutOut.weights.recency).toBeCloseTo(0.1, 12)
  })
})

describe('the scope', () => {
  it('is local where none is given; what is left out of one is off (BQ-086, BQ-087)', () => {
    expect(checkScope(undefined)).toEqual({ local: true, federated: false, network: false, nodes: null })
    expect(checkScope({ network: true })).toEqual({ local: false, federated: false, network: true, nodes: null })
    expect(checkScope({ local: true, nodes: ['n', 'n'] })).toMatchObject({ local: true, nodes: ['n'] })
    expect(checkScope({ federated: true, nodes: [] })).toMatchObject({ federated: true, nodes: [] })
  })

  it.each([{}, { local: false }, { local: false, federated: false, network: false }, { nodes: ['n'] }])(
    'is not empty: %j (BQ-086)',
    scope => {
      expect(reported(() => checkScope(scope))).toEqual(['options.scope: empty_scope'])
    },
  )

  it('with a mistake in it is not also called empty (BQ-186)', () => {
    expect(reported(() => checkScope({ local: 'true' }))).toEqual(['options.scope.local: type'])
  })
})

describe('the options', () => {
  it.each<[object, Partial<CheckedOptions>]>([
    [
      { limit: 1000, offset: 10_000 },
      { limit: 1000, offset: 10_000 },
    ],
    [
      { timeout_ms: 30_000, max_derivation_depth: 10 },
      { timeoutMs: 30_000, maxDerivationDepth: 10 },
    ],
    [
      { cursor: null, offset: 5 },
      { cursor: null, offset: 5 },
    ],
    [
      { cursor: 'abc', offset: 0 },
      { cursor: 'abc', offset: 0 },
    ],
    [{ ef_search: 10, approximate: true, dry_run: true, stream: false }, { dryRun: true }],
    [{ include_derivation: true }, { includeDerivation: true, includeExplanation: false }],
  ])('takes %j (BQ-088, BQ-089)', (options, expected) => {
    expect(checkOptions(options)).toMatchObject(expected)
  })

  it.each<[unknown, string]>([
    [{ limit: 0 }, 'options.limit: range'],
    [{ limit: 1001 }, 'options.limit: range'],
    [{ limit: 1.5 }, 'options.limit: range'],
    [{ limit: '20' }, 'options.limit: type'],
    [{ offset: -1 }, 'options.offset: range'],
    [{ offset: 10_001 }, 'options.offset: range'],
    [{ offset: 1, cursor: 'abc' }, 'options.offset: offset_with_cursor'],
    [{ cursor: '' }, 'options.cursor: range'],
    [{ timeout_ms: 0 }, 'options.timeout_ms: range'],
    [{ timeout_ms: 30_001 }, 'options.timeout_ms: range'],
    [{ max_derivation_depth: 0 }, 'options.max_derivation_depth: range'],
    [{ max_derivation_depth: 11 }, 'options.max_derivation_depth: range'],
    [{ ef_search: 9 }, 'options.ef_search: range'],
    [{ stream: true }, 'options.stream: not_supported'],
    [{ include_explanation: 1 }, 'options.include_explanation: type'],
    [{ diversity: { enabled: false, max_per_holder: 0 } }, 'options.diversity.max_per_holder: range'],
    [{ diversity: { enabled: false, max_per_domain: -1 } }, 'options.diversity.max_per_domain: range'],
    [{ diversity: { enabled: false, min_semantic_distance: 1.1 } }, 'options.diversity.min_semantic_distance: range'],
    [{ diversity: { enabled: false, lambda: 2 } }, 'options.diversity.lambda: range'],
  ])('refuses %j: %s (BQ-026, BQ-085, BQ-088, BQ-142)', (options, expected) => {
    expect(reported(() => checkOptions(options))).toEqual([expected])
    expect(refusal(() => checkOptions(options)).code).toBe('INVALID_QUERY')
  })

  it('tells the bound (BQ-088, BQ-185)', () => {
    expect(refusal(() => checkOptions({ limit: 1001 })).details).toMatchObject({
      path: 'options.limit',
      constraint: 'an integer from 1 to 1000',
      reason: 'range',
    })
  })
})

function zeroDimensions(): object {
  return {
    source_reliability: 0,
    method_quality: 0,
    internal_consistency: 0,
    temporal_freshness: 0,
    corroboration: 0,
    domain_applicability: 0,
  }
}
