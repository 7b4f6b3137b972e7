/** Filters of a query: presets, objects, and lists of both, of which all must hold (BQ-044 to BQ-057). */
import { DAY_MS } from '../measures/decay.ts'
import { DERIVATION_TYPES, DIMENSIONS, type Dimension, VISIBILITIES } from '../model.ts'
import type { CheckedFilters, ConfidenceBound } from './checked.ts'
import type { Check, Place } from './faults.ts'
import { NO_FILTER } from './no-filter.ts'
import { isRecord, isWhole, listOf, type Members, members, orNull, uniqueItems } from './shapes.ts'
import { domain, id, instant, integerIn, numberIn, oneOf, SHARE } from './values.ts'

const PRESETS = ['high_confidence', 'recent', 'verified', 'from_trusted'] as const
type Preset = (typeof PRESETS)[number]

/** Parts that ask for nothing are left out. */
export function filters(value: unknown, below: Place): readonly CheckedFilters[] | undefined {
  const at = below.with('INVALID_FILTERS')
  const parts = Array.isArray(value) ? listOf(part, MOST_PARTS, 'parts')(value, at)?.flat() : part(value, at)
  if (parts !== undefined && parts.length > MOST_PARTS) {
    return at.fault('too_complex', `at most ${MOST_PARTS} parts, presets counted`, parts.length)
  }
  return parts?.filter(asksForSomething)
}

/** A bare number is a bound on the overall confidence (BQ-044). */
export function minConfidence(value: unknown, at: Place): readonly ConfidenceBound[] | undefined {
  if (typeof value === 'number') {
    const bound = share(value, at)
    return bound === undefined ? undefined : [{ of: 'overall', bound, strict: false }]
  }
  if (!isRecord(value)) return at.fault('type', 'a number from 0 to 1, or an object of such numbers', value)
  const given = members(value, at, BOUNDS)
  if (given === undefined || !isWhole(value, given)) return undefined
  return BOUNDED.flatMap(of => {
    const bound = given[of]
    return bound === undefined || bound === null ? [] : [{ of, bound, strict: false }]
  })
}

const MOST_PARTS = 8
const MOST_DOMAINS = 50
const MOST_HOLDERS = 1_000
/** Of a list whose values are few and known. */
const MOST_KNOWN = 50

const share = numberIn(SHARE)
const BOUNDED: readonly ('overall' | Dimension)[] = ['overall', ...DIMENSIONS]
const BOUNDS: Record<'overall' | Dimension, Check<number | null>> = {
  overall: orNull(share),
  source_reliability: orNull(share),
  method_quality: orNull(share),
  internal_consistency: orNull(share),
  temporal_freshness: orNull(share),
  corroboration: orNull(share),
  domain_applicability: orNull(share),
}

/** BQ-055. */
const PRESET_FILTERS: Readonly<Record<Preset, CheckedFilters>> = {
  high_confidence: { ...NO_FILTER, confidence: [{ of: 'overall', bound: 0.7, strict: true }] },
  recent: { ...NO_FILTER, createdWithinMs: 30 * DAY_MS },
  verified: { ...NO_FILTER, confidence: [{ of: 'corroboration', bound: 0.5, strict: true }] },
  from_trusted: { ...NO_FILTER, directTrustAbove: 0.5 },
}

const domains = listOf(domain, MOST_DOMAINS, 'domains')
const holders = listOf(id, MOST_HOLDERS, 'holders')

const FILTERS = {
  preset: presets,
  min_confidence: orNull(minConfidence),
  valid_at: orNull(instant),
  created_after: orNull(instant),
  created_before: orNull(instant),
  domains_include: domains,
  domains_exclude: domains,
  holder_ids: orNull(holders),
  exclude_holders: holders,
  min_holder_reputation: orNull(share),
  derivation_types: orNull(listOf(oneOf(DERIVATION_TYPES), MOST_KNOWN, 'types')),
  max_derivation_depth: orNull(integerIn({ least: 0, most: Number.MAX_SAFE_INTEGER })),
  visibility_levels: orNull(listOf(oneOf(VISIBILITIES, 'any case'), MOST_KNOWN, 'levels')),
}

function part(value: unknown, at: Place): readonly CheckedFilters[] | undefined {
  if (typeof value === 'string') return preset(value, at)?.map(name => PRESET_FILTERS[name])
  if (!isRecord(value))
    return at.fault('type', `a preset (${PRESETS.join(', ')}), an object of filters, or a list of both`, value)
  const given = members(value, at, FILTERS)
  if (given === undefined) return undefined
  checkWindow(given, at)
  if (!isWhole(value, given)) return undefined
  return [filtersOf(given), ...(given.preset ?? []).map(name => PRESET_FILTERS[name])]
}

function preset(value: unknown, at: Place): readonly Preset[] | undefined {
  const name = oneOf(PRESETS)(value, at)
  return name === undefined ? undefined : [name]
}

function presets(value: unknown, at: Place): readonly Preset[] | undefined {
  return Array.isArray(value) ? listOf(preset, MOST_PARTS, 'presets')(value, at)?.flat() : preset(value, at)
}

function checkWindow({ created_after: after, created_before: before }: Members<typeof FILTERS>, at: Place): void {
  if (after === undefined || after === null || before === undefined || before === null || after <= before) return
  const until = new Date(before).toISOString()
  at.member('created_after').fault(
    'created_window',
    `a time not after created_before, ${until}`,
    new Date(after).toISOString(),
  )
}

function filtersOf(given: Members<typeof FILTERS>): CheckedFilters {
  const include = given.domains_include ?? []
  return {
    confidence: given.min_confidence ?? [],
    validAt: given.valid_at ?? null,
    createdAfter: given.created_after ?? null,
    createdBefore: given.created_before ?? null,
    createdWithinMs: null,
    domainsInclude: include.length === 0 ? null : uniqueItems(include),
    domainsExclude: uniqueItems(given.domains_exclude ?? []),
    holderIds: asSet(given.holder_ids),
    excludeHolders: new Set(given.exclude_holders),
    minHolderReputation: given.min_holder_reputation ?? null,
    directTrustAbove: null,
    derivationTypes: asSet(given.derivation_types),
    maxDerivationDepth: given.max_derivation_depth ?? null,
    visibilityLevels: asSet(given.visibility_levels),
  }
}

function asksForSomething(part: CheckedFilters): boolean {
  return Object.values(part).some(member => {
    if (Array.isArray(member)) return member.length > 0
    return member !== null && !(member === part.excludeHolders && part.excludeHolders.size === 0)
  })
}

function asSet<T>(items: readonly T[] | null | undefined): ReadonlySet<T> | null {
  return items === null || items === undefined ? null : new Set(items)
}
