/** What of a query is told to another node (BQ-121): nothing of whom the requester trusts, and nothing of how it weighs. */
import type { Instant } from '../../../../base/clock.ts'
import { toIso } from '../../../../model/instant.ts'
import type { Dimension } from '../../dimensions.ts'
import { type CheckedFilters, NO_FILTER } from '../../schema/filters.ts'
import type { CheckedQuery } from '../../schema/query.ts'
import type { AskedSource } from '../guest.ts'
import { PROTOCOL, vectorsToText, type WireFilter, type WireQuery, type WireScope } from './protocol.ts'

export interface WireQueryParts {
  readonly source: AskedSource
  readonly query: CheckedQuery
  /** In place of the text; null: the text is told. */
  readonly vector: { readonly model: string; readonly values: Float32Array } | null
  readonly asOf: Instant
  readonly timeoutMs: number
}

export function scopeOf({ kind, id }: AskedSource): WireScope {
  return kind === 'federated' ? { kind, federation: id } : { kind, federation: null }
}

export function wireQueryOf({ source, query, vector, asOf, timeoutMs }: WireQueryParts): WireQuery {
  const { semantic, filters, options, context } = query
  const parts = filters.length === 0 ? [NO_FILTER] : filters
  const isAged = context.queryDomains.length > 0
  return {
    protocol: PROTOCOL,
    scope: scopeOf(source),
    text: vector === null ? (semantic?.base ?? null) : null,
    vector: vector === null ? null : { model: vector.model, values: vectorsToText([vector.values]) },
    filters: withMoment(
      parts.map(part => wireFilter(part, asOf, isAged)),
      asOf,
    ),
    ...(options.minSimilarity !== null && { min_similarity: options.minSimilarity }),
    limit: options.maxResultsPerNode,
    timeout_ms: Math.max(1, Math.floor(timeoutMs)),
  }
}

/** Both nodes ask what holds at one moment, whatever their clocks say. */
function withMoment(filters: readonly WireFilter[], asOf: Instant): readonly WireFilter[] {
  if (filters.some(filter => filter.valid_at !== null)) return filters
  return filters.map((filter, at) => (at === 0 ? { ...filter, valid_at: toIso(asOf) } : filter))
}

/** Bounds here are inclusive; what is stricter is asked of what comes back. */
function wireFilter(filter: CheckedFilters, asOf: Instant, isAged: boolean): WireFilter {
  const { validAt, createdBefore, domainsInclude, domainsExclude, derivationTypes, visibilityLevels } = filter
  return {
    valid_at: isoOrNull(validAt),
    created_after: isoOrNull(createdAfter(filter, asOf)),
    created_before: isoOrNull(createdBefore),
    min_confidence: boundsOf(filter, isAged),
    domains_include: domainsInclude,
    domains_exclude: domainsExclude,
    derivation_types: derivationTypes && [...derivationTypes],
    visibility_levels: visibilityLevels && [...visibilityLevels],
  }
}

function createdAfter({ createdAfter: after, createdWithinMs: within }: CheckedFilters, asOf: Instant): Instant | null {
  if (within === null) return after
  return Math.max(after ?? Number.NEGATIVE_INFINITY, asOf - within)
}

/** The overall confidence is weighed, and freshness ages by the query's domains where it has some: neither is told. */
function boundsOf({ confidence }: CheckedFilters, isAged: boolean): WireFilter['min_confidence'] {
  const bounds = new Map<Dimension, number>()
  for (const { of, bound } of confidence) {
    if (of === 'overall' || (of === 'temporal_freshness' && isAged)) continue
    bounds.set(of, Math.max(bounds.get(of) ?? 0, bound))
  }
  return Object.fromEntries(bounds)
}

function isoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : toIso(instant)
}
