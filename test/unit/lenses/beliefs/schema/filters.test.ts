/** Filters: every field, presets, and how they go together. */
import { describe, expect, it } from 'vitest'
import type { CheckedFilters } from '../../../../../src/lenses/beliefs/schema/filters.ts'
import { NO_FILTER } from '../../../../../src/lenses/beliefs/schema/filters.ts'
import { checkQuery } from './checks.ts'
import { refusal, reported } from './faults.ts'

function read(filters: unknown): readonly CheckedFilters[] {
  return checkQuery({ semantic: 'x', filters }, { id: 'me', trustGraph: null }).filters
}

/** One part that asks for this and nothing more. */
function expectOne(filters: unknown, expected: Partial<CheckedFilters>): void {
  expect(read(filters)).toEqual([{ ...NO_FILTER, ...expected }])
}

const AT = '2026-01-10T00:00:00Z'

describe('each field', () => {
  it('of confidence: overall, by dimension, null is unset, a number means overall (BQ-044)', () => {
    expectOne({ min_confidence: 0.7 }, { confidence: [{ of: 'overall', bound: 0.7, strict: false }] })
    expectOne(
      { min_confidence: { corroboration: 0, overall: 0.7, method_quality: null } },
      {
        confidence: [
          { of: 'overall', bound: 0.7, strict: false },
          { of: 'corroboration', bound: 0, strict: false },
        ],
      },
    )
    expect(read({ min_confidence: null })).toEqual([])
  })

  it('of time: instants with a zone (BQ-009, BQ-046, BQ-047)', () => {
    expectOne({ valid_at: AT }, { validAt: Date.UTC(2026, 0, 10) })
    expectOne(
      { created_after: '2026-01-10T02:00:00.5+02:00', created_before: '2026-01-10T00:00:00.500Z' },
      {
        createdAfter: Date.UTC(2026, 0, 10, 0, 0, 0, 500),
        createdBefore: Date.UTC(2026, 0, 10, 0, 0, 0, 500),
      },
    )
  })

  it('of domains: normalised, each once; an empty list asks for nothing (BQ-006, BQ-048, BQ-050)', () => {
    expectOne(
      { domains_include: ['Tech', 'bio:Cell', 'tech'], domains_exclude: ['A'] },
      {
        domainsInclude: ['tech', 'bio/cell'],
        domainsExclude: ['a'],
      },
    )
    expect(read({ domains_include: [], domains_exclude: [] })).toEqual([])
  })

  it('of holders: opaque, byte by byte (BQ-011, BQ-049)', () => {
    expectOne(
      { holder_ids: ['X', 'x ', 'X'], exclude_holders: ['é'] },
      {
        holderIds: new Set(['X', 'x ']),
        excludeHolders: new Set(['é']),
      },
    )
  })

  it('an empty allow-list admits nothing, null asks for nothing (BQ-050)', () => {
    expectOne({ holder_ids: [] }, { holderIds: new Set() })
    expectOne({ derivation_types: [] }, { derivationTypes: new Set() })
    expectOne({ visibility_levels: [] }, { visibilityLevels: new Set() })
    expect(read({ holder_ids: null, derivation_types: null, visibility_levels: null, exclude_holders: [] })).toEqual([])
  })

  it('of reputation, derivation and visibility (BQ-051, BQ-052, BQ-053, BQ-054)', () => {
    expectOne({ min_holder_reputation: 0 }, { minHolderReputation: 0 })
    expectOne(
      { derivation_types: ['observation', 'synthesis'] },
      {
        derivationTypes: new Set(['observation', 'synthesis']),
      },
    )
    expectOne({ max_derivation_depth: 0 }, { maxDerivationDepth: 0 })
    expectOne({ visibility_levels: ['PRIVATE', 'Public'] }, { visibilityLevels: new Set(['private', 'public']) })
  })

  it.each<[unknown, string]>([
    [{ min_confidence: 1.1 }, 'filters.min_confidence: range'],
    [{ min_confidence: '0.7' }, 'filters.min_confidence: type'],
    [{ min_confidence: { overall: Number.NaN } }, 'filters.min_confidence.overall: range'],
    [{ valid_at: '2026-01-10T00:00:00' }, 'filters.valid_at: zone_missing'],
    [{ valid_at: '2026-01-10' }, 'filters.valid_at: zone_missing'],
    [{ valid_at: '2026-02-30T00:00:00Z' }, 'filters.valid_at: malformed'],
    [{ valid_at: '2026-01-10T25:00:00Z' }, 'filters.valid_at: malformed'],
    [{ valid_at: 1_768_000_000 }, 'filters.valid_at: type'],
    [{ created_after: 'yesterday' }, 'filters.created_after: malformed'],
    [{ created_before: AT, created_after: '2026-01-10T00:00:00.001Z' }, 'filters.created_after: created_window'],
    [{ domains_include: ['a b'] }, 'filters.domains_include[0]: malformed'],
    [{ domains_include: null }, 'filters.domains_include: type'],
    [{ domains_exclude: 'tech' }, 'filters.domains_exclude: type'],
    [{ holder_ids: [''] }, 'filters.holder_ids[0]: range'],
    [{ holder_ids: ['\ud800'] }, 'filters.holder_ids[0]: malformed'],
    [{ min_holder_reputation: -0.1 }, 'filters.min_holder_reputation: range'],
    [{ derivation_types: ['prediction'] }, 'filters.derivation_types[0]: unknown_value'],
    [{ max_derivation_depth: 1.5 }, 'filters.max_derivation_depth: range'],
    [{ max_derivation_depth: -1 }, 'filters.max_derivation_depth: range'],
    [{ visibility_levels: ['secret'] }, 'filters.visibility_levels[0]: unknown_value'],
    ['best', 'filters: unknown_value'],
    [['recent', 'best'], 'filters[1]: unknown_value'],
    [{ preset: 'best' }, 'filters.preset: unknown_value'],
    [{ preset: ['recent', 7] }, 'filters.preset[1]: type'],
    [[['recent']], 'filters[0]: type'],
    [7, 'filters: type'],
    [null, 'filters: type'],
  ])('refuses %j: %s (BQ-007, BQ-009, BQ-026, BQ-047, BQ-052, BQ-054, BQ-057)', (filters, expected) => {
    expect(reported(() => read(filters))).toEqual([expected])
    expect(refusal(() => read(filters))).toMatchObject({ code: 'INVALID_FILTERS', retryable: false })
  })
})

describe('presets', () => {
  it.each<[string, Partial<CheckedFilters>]>([
    ['high_confidence', { confidence: [{ of: 'overall', bound: 0.7, strict: true }] }],
    ['recent', { createdWithinMs: 2_592_000_000 }],
    ['verified', { confidence: [{ of: 'corroboration', bound: 0.5, strict: true }] }],
    ['from_trusted', { directTrustAbove: 0.5 }],
  ])('%s is %j (BQ-055, BQ-056)', (name, expected) => {
    expectOne(name, expected)
  })

  it('go with objects and with each other, and all must hold (BQ-057)', () => {
    const verified = { ...NO_FILTER, confidence: [{ of: 'corroboration', bound: 0.5, strict: true }] }
    const tech = { ...NO_FILTER, domainsInclude: ['tech'] }
    const recent = { ...NO_FILTER, createdWithinMs: 2_592_000_000 }
    expect(read(['verified', { domains_include: ['tech'] }])).toEqual([verified, tech])
    expect(read({ domains_include: ['tech'], preset: 'verified' })).toEqual([tech, verified])
    expect(read([{ preset: ['verified', 'recent'] }, { domains_include: ['tech'] }])).toEqual([verified, recent, tech])
  })
})
