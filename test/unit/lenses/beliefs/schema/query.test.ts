/** Queries as they are written: the four of the specification, what is refused and how, and that nothing else happens. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Requester } from '../../../../../src/lenses/beliefs/schema/filters.ts'
import type { CheckedQuery } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { checkQuery } from './checks.ts'
import { faults, refusal, reported } from './faults.ts'
import { hostile } from './hostile.ts'

const REQUESTER: Requester = { id: 'my-agent-uuid', trustGraph: 'my-trust-graph' }

function check(query: unknown): CheckedQuery {
  return checkQuery(query, REQUESTER)
}

describe('the sample queries of the specification, as printed (BQ-030, BQ-011)', () => {
  it('one: what I hold about the climate', () => {
    const query = sample('climate')
    expect(query.semantic?.base).toBe('climate change')
    expect(query.filters).toEqual([])
    expect(query.context).toMatchObject({ requesterId: 'my-agent-uuid', trustWeight: 0.5 })
    expect(query.options).toMatchObject({ limit: 10, offset: 0, scope: scopeOf('local') })
    expect(query.warnings).toEqual([])
  })

  it('two: high confidence, sources that I trust', () => {
    const query = sample('quantum')
    expect(query.filters).toMatchObject([{ confidence: [{ of: 'overall', bound: 0.8, strict: false }] }])
    expect(query.context.trustWeight).toBe(0.9)
    expect(query.weights.trust).toBeCloseTo(0.54, 12)
    expect(query.options).toMatchObject({ limit: 20, scope: scopeOf('local', 'federated') })
  })

  it('three: recent medical knowledge from the network', () => {
    const query = sample('vaccines')
    expect(query.filters).toMatchObject([
      {
        confidence: [
          { of: 'temporal_freshness', bound: 0.7, strict: false },
          { of: 'corroboration', bound: 0.6, strict: false },
        ],
        domainsInclude: ['medical', 'science/biology'],
        createdAfter: Date.UTC(2024, 0, 1),
        createdBefore: null,
      },
    ])
    expect(query.context).toMatchObject({ queryDomains: ['medical'], domainTrustWeight: 0.8, trustWeight: 0.5 })
    expect(query.options).toMatchObject({
      limit: 50,
      includeExplanation: true,
      includeDerivation: false,
      scope: scopeOf('local', 'federated', 'network'),
    })
  })

  it('four: different opinions, from the network alone (BQ-086)', () => {
    const query = sample('ai-regulation')
    expect(query.context.trustWeight).toBe(0.3)
    expect(query.options).toMatchObject({
      limit: 30,
      scope: scopeOf('network'),
      diversity: { enabled: true, maxPerHolder: 2, minDistance: 0.3, maxPerDomain: null, lambda: 0.7 },
    })
  })
})

describe('the shape of a query', () => {
  it('needs a text; filters, options, and what the host knows of the requester may be left out (BQ-024)', () => {
    const query = check({ semantic: 'bees', context: {} })
    expect(query).toEqual(check({ semantic: 'bees' }))
    expect(query).toEqual({
      semantic: { text: 'bees', base: 'bees', include: [], exclude: [], phrases: [], boosts: [] },
      filters: [],
      context: {
        requesterId: 'my-agent-uuid',
        trustWeight: 0.5,
        queryDomains: [],
        domainTrustWeight: 0.5,
        maxTrustHops: 3,
        transitiveDamping: 0.7,
        confidenceWeights: {
          source_reliability: 0.25,
          method_quality: 0.2,
          internal_consistency: 0.15,
          temporal_freshness: 0.15,
          corroboration: 0.15,
          domain_applicability: 0.1,
        },
        weights: expect.anything(),
        warnings: [],
      },
      options: {
        scope: scopeOf('local'),
        limit: 20,
        offset: 0,
        cursor: null,
        includeDerivation: false,
        includeExplanation: false,
        maxDerivationDepth: 5,
        timeoutMs: 5000,
        minSimilarity: null,
        approximate: false,
        diversity: { enabled: false, minDistance: null, maxPerHolder: null, maxPerDomain: null, lambda: 0.7 },
        temporalIntent: false,
        dryRun: false,
        maxResultsPerNode: 60,
        timeoutPerNodeMs: 4_000,
        mergeStrategy: 'rerank',
        chunkSize: 20,
      },
      weights: query.context.weights,
      warnings: [],
    })
    expect(reported(() => check({ context: {} }))).toEqual(['semantic: required'])
    expect(reported(() => check({ semantic: null }))).toEqual(['semantic: type'])
    for (const other of [null, undefined, 'bees', 7, [], new Map()])
      expect(reported(() => check(other))).toEqual(['input: type'])
  })

  it.each([
    [{ semantics: 'x' }, 'INVALID_QUERY', 'semantics'],
    [{ context: { trust_wieght: 1 } }, 'INVALID_QUERY', 'context.trust_wieght'],
    [{ context: { confidence_weights: { overall: 1 } } }, 'INVALID_QUERY', 'context.confidence_weights.overall'],
    [{ context: { ranking_weights: { diversity: 1 } } }, 'INVALID_QUERY', 'context.ranking_weights.diversity'],
    [{ options: { page: 1 } }, 'INVALID_QUERY', 'options.page'],
    [{ options: { scope: { global: true } } }, 'INVALID_QUERY', 'options.scope.global'],
    [{ options: { diversity: { max: 1 } } }, 'INVALID_QUERY', 'options.diversity.max'],
    [{ filters: { domain: 'x' } }, 'INVALID_FILTERS', 'filters.domain'],
    [{ filters: { min_confidence: { mood: 1 } } }, 'INVALID_FILTERS', 'filters.min_confidence.mood'],
    [{ filters: ['recent', { holder: 'x' }] }, 'INVALID_FILTERS', 'filters[1].holder'],
    [JSON.parse('{"__proto__": 1}'), 'INVALID_QUERY', '__proto__'],
    [{ context: { constructor: 1 } }, 'INVALID_QUERY', 'context.constructor'],
    [{ 'a b"]': 1 }, 'INVALID_QUERY', '["a b\\"]"]'],
  ])('refuses the unknown field of %j as %s at %s (BQ-025, BQ-185)', (extra, code, path) => {
    const query = Object.defineProperties({ semantic: 'x' }, Object.getOwnPropertyDescriptors(extra))
    const error = refusal(() => check(query))
    expect(error).toMatchObject({ code, details: { path, reason: 'unknown_field', constraint: expect.any(String) } })
    expect(error.message).toContain(path)
  })

  it('tells the fields that there are (BQ-025)', () => {
    const [fault] = faults(() => check({ semantic: 'x', options: { scope: { lokal: true, local: true } } }))
    expect(fault).toEqual({
      code: 'INVALID_QUERY',
      path: 'options.scope.lokal',
      constraint: 'one of local, federated, network, nodes',
      reason: 'unknown_field',
      value: null,
    })
  })

  it.each(['privacy', 'query_privacy', 'encrypted', 'differential_privacy', 'anonymized'])(
    'refuses %s, which no query is run without (BQ-113, BQ-114, BQ-115)',
    name => {
      expect(reported(() => check({ semantic: 'x', [name]: true }))).toEqual([`${name}: not_supported`])
      expect(reported(() => check({ semantic: 'x', options: { [name]: {} } }))).toEqual([
        `options.${name}: not_supported`,
      ])
    },
  )
})

describe('several faults', () => {
  it('are reported together in document order, the first as the error itself (BQ-186)', () => {
    const query = {
      options: { limit: 0, scope: { local: 'yes' }, timeout_ms: '5000' },
      filters: { valid_at: '2026-01-01', holder_ids: ['x', 7], min_confidence: { overall: 2, mood: 1 } },
      semantic: 'say "cheese',
      context: { trust_weight: -1, query_domains: ['ok', 'not ok'] },
    }
    const error = refusal(() => check(query))
    expect(reported(() => check(query))).toEqual([
      'options.limit: range',
      'options.scope.local: type',
      'options.timeout_ms: type',
      'filters.valid_at: zone_missing',
      'filters.holder_ids[1]: type',
      'filters.min_confidence.overall: range',
      'filters.min_confidence.mood: unknown_field',
      'semantic: unterminated_quote',
      'context.trust_weight: range',
      'context.query_domains[1]: malformed',
    ])
    expect(error.code).toBe('INVALID_QUERY')
    expect(error.message).toBe('options.limit: expected an integer from 1 to 1000, got 0')
    expect(error.details).toMatchObject({ path: 'options.limit', reason: 'range' })
    const { filters, semantic } = query
    expect(refusal(() => check({ filters, semantic })).code).toBe('INVALID_FILTERS')
  })

  it('are at most twenty (BQ-186)', () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]))
    const all = reported(() => check({ semantic: 'x', ...fields }))
    expect(all).toEqual(Array.from({ length: 20 }, (_, i) => `f${i}: unknown_field`))
  })

  it('show the value, cut (BQ-186)', () => {
    const [fault] = faults(() => check({ semantic: 'x', context: { query_domains: ['🐝'.repeat(5000)] } }))
    expect(fault?.value?.length).toBe(80)
    expect(fault?.value?.isWellFormed()).toBe(true)
  })
})

describe('bounds of complexity (BQ-191)', () => {
  const words = (count: number, word: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => word(i)).join(' ')

  it.each<[string, unknown, string]>([
    ['text', { semantic: '🐝'.repeat(4097) }, 'semantic'],
    ['longer text', { semantic: 'x'.repeat(9000) }, 'semantic'],
    ['operators', { semantic: `x ${words(33, i => `+w${i}`)}` }, 'semantic'],
    ['operators, two at a word', { semantic: `x ${words(17, i => `+w${i}^2`)}` }, 'semantic'],
    ['query domains', { semantic: 'x', context: { query_domains: many(33) } }, 'context.query_domains'],
    ['domains', { semantic: 'x', filters: { domains_include: many(51) } }, 'filters.domains_include'],
    ['excluded domains', { semantic: 'x', filters: { domains_exclude: many(51) } }, 'filters.domains_exclude'],
    ['holders', { semantic: 'x', filters: { holder_ids: many(1001) } }, 'filters.holder_ids'],
    ['excluded holders', { semantic: 'x', filters: { exclude_holders: many(1001) } }, 'filters.exclude_holders'],
    ['nodes', { semantic: 'x', options: { scope: { local: true, nodes: many(33) } } }, 'options.scope.nodes'],
    ['parts', { semantic: 'x', filters: Array.from({ length: 9 }, () => 'recent') }, 'filters'],
    [
      'parts, presets counted',
      {
        semantic: 'x',
        filters: [{ preset: ['recent', 'verified', 'recent', 'recent'] }, 'recent', 'recent', 'recent', 'recent'],
      },
      'filters',
    ],
    ['nesting', { semantic: 'x', nested: deep(17) }, `nested${'[0]'.repeat(15)}`],
    ['size', { semantic: 'x', filters: { holder_ids: many(600, 'h'.repeat(500)) } }, 'input'],
  ])('too much: %s', (_, query, path) => {
    expect(refusal(() => check(query)).details).toMatchObject({ path, reason: 'too_complex' })
  })

  it.each<[string, unknown]>([
    ['text', { semantic: '🐝'.repeat(4096) }],
    ['operators', { semantic: `x ${words(32, i => `+w${i}`)}` }],
    ['query domains', { semantic: 'x', context: { query_domains: many(32) } }],
    ['domains', { semantic: 'x', filters: { domains_include: many(50), domains_exclude: many(50) } }],
    ['holders', { semantic: 'x', filters: { holder_ids: many(1000), exclude_holders: many(1000) } }],
    ['nodes', { semantic: 'x', options: { scope: { network: true, nodes: many(32) } } }],
    ['parts', { semantic: 'x', filters: Array.from({ length: 8 }, () => 'recent') }],
  ])('just enough: %s', (_, query) => {
    expect(() => check(query)).not.toThrow()
  })

  it('ends a request without an end, and one of holes', () => {
    const endless: unknown[] = []
    endless.push(endless, endless)
    expect(refusal(() => check({ semantic: 'x', filters: endless })).details['reason']).toBe('too_complex')
    expect(refusal(() => check({ semantic: 'x', filters: new Array(2 ** 32 - 1) })).details['reason']).toBe(
      'too_complex',
    )
  })
})

describe('any input', () => {
  it('as the text of a query is text: never more than an INVALID answer (BQ-187)', () => {
    fc.assert(
      fc.property(hostile, text => {
        try {
          const { semantic } = check({ semantic: text, filters: 'recent' })
          if (semantic !== null) expect(semantic.base.trim()).not.toBe('')
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_QUERY', details: { path: 'semantic' } })
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('is not changed, and gives the same again (BQ-029, BQ-187)', () => {
    const text = readFileSync(fixture('vaccines'), 'utf8')
    const frozen = deepFreeze(JSON.parse(text))
    expect(check(frozen)).toEqual(check(JSON.parse(text)))
  })
})

function sample(name: string): CheckedQuery {
  return check(JSON.parse(readFileSync(fixture(name), 'utf8')))
}

function fixture(name: string): URL {
  return new URL(`../../../../fixtures/beliefs/${name}.json`, import.meta.url)
}

function scopeOf(...kinds: readonly string[]): object {
  const on = (kind: string) => kinds.includes(kind)
  return { local: on('local'), federated: on('federated'), network: on('network'), nodes: null }
}

function many(count: number, name = 'n'): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${name}${i}`)
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : [deep(levels - 1)]
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
