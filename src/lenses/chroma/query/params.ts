/** The parameters of a query (CQ-003 to CQ-018): what each may be, and which of several sources gives it. */
import { invalidParameter } from '../errors.ts'
import { checkBoolean, checkText, refuseUnknown } from '../given.ts'
import type { QueryOptions, QueryParams, ScoreWeights } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { checkFilters } from './metadata-filter.ts'

export const QUERY_OPTIONS: readonly (keyof QueryOptions)[] = [
  'k',
  'maxDistance',
  'temporalRange',
  'metadataFilters',
  'includeRotten',
  'scoreWeights',
  'profile',
  'updateAccess',
  'completeHashtags',
  'fallbackToDefault',
]

/** Rounding of decimal weights adds up to less than this. */
const SUM_TOLERANCE = 1e-9

const WEIGHTS = ['relevance', 'recency', 'strength'] as const

/** Parameters as a query runs on them; null is "none". */
export interface SettledParams extends Required<Pick<QueryOptions, 'metadataFilters'>> {
  readonly k: number
  readonly maxDistance: number | null
  readonly temporalRange: readonly [number, number] | null
  readonly metadataFilters: NonNullable<QueryOptions['metadataFilters']> | null
  readonly includeRotten: boolean
  readonly scoreWeights: ScoreWeights | null
}

/** What the configuration gives where neither call nor profile does. */
export type ParamDefaults = Pick<SettledParams, 'k' | 'maxDistance' | 'includeRotten' | 'scoreWeights'>

/** Options of a call, checked: each is of its type, and none is unknown. Throws `invalid_parameter`. */
export function checkOptions(options: unknown, known: readonly string[] = QUERY_OPTIONS): QueryOptions {
  if (options === undefined) return {}
  if (!isPlainObject(options)) throw invalidParameter('options', options, 'an object')
  refuseUnknown(options, known)
  const given = options as Record<keyof QueryOptions, unknown>
  checkParams(given)
  optional(given.profile, value => checkText('profile', value))
  optional(given.updateAccess, value => checkBoolean('update_access', value))
  optional(given.completeHashtags, value => checkBoolean('complete_hashtags', value))
  optional(given.fallbackToDefault, value => checkBoolean('fallback_to_default', value))
  return options
}

/** The parameters that a call and a profile have in common. */
export function checkParams(given: { readonly [name in keyof QueryParams]?: unknown }): void {
  optional(given.k, checkK)
  optional(given.maxDistance, checkMaxDistance)
  optional(given.temporalRange, checkTemporalRange)
  optional(given.metadataFilters, checkFilters)
  optional(given.includeRotten, value => checkBoolean('include_rotten', value))
  optional(given.scoreWeights, checkScoreWeights)
}

/** CQ-004, CQ-005: the first that is present of call, profile and configuration. */
export function settle(call: QueryOptions, parsed: Partial<QueryParams>, defaults: ParamDefaults): SettledParams {
  const filters = firstDefined(call.metadataFilters, parsed.metadataFilters)
  return {
    k: call.k ?? parsed.k ?? defaults.k,
    maxDistance: firstDefined(call.maxDistance, parsed.maxDistance, defaults.maxDistance) ?? null,
    temporalRange: firstDefined(call.temporalRange, parsed.temporalRange) ?? null,
    metadataFilters: filters ?? null,
    includeRotten: call.includeRotten ?? parsed.includeRotten ?? defaults.includeRotten,
    scoreWeights: firstDefined(call.scoreWeights, parsed.scoreWeights, defaults.scoreWeights) ?? null,
  }
}

export function checkK(value: unknown): asserts value is number {
  if (!Number.isInteger(value) || (value as number) < 1) throw invalidParameter('k', value, 'an integer of at least 1')
}

export function checkMaxDistance(value: unknown): asserts value is number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw invalidParameter('max_distance', value, 'null, or a finite number of at least 0')
  }
}

function checkTemporalRange(value: unknown): void {
  const expected = 'null, or two integers (Unix seconds, UTC), the first not after the second'
  if (!Array.isArray(value) || value.length !== 2 || !Array.from(value).every(Number.isSafeInteger)) {
    throw invalidParameter('temporal_range', value, expected)
  }
  if (value[0] > value[1]) throw invalidParameter('temporal_range', value, expected)
}

/** CQ-017. */
export function checkScoreWeights(value: unknown): asserts value is ScoreWeights {
  const expected = 'exactly relevance, recency and strength, each a finite number of at least 0, together 1'
  const refuse = () => invalidParameter('score_weights', value, expected)
  if (!isPlainObject(value) || Object.keys(value).length !== WEIGHTS.length) throw refuse()
  const weights = WEIGHTS.map(name => (Object.hasOwn(value, name) ? value[name] : undefined))
  if (!weights.every(weight => typeof weight === 'number' && Number.isFinite(weight) && weight >= 0)) throw refuse()
  const sum = (weights as number[]).reduce((a, b) => a + b, 0)
  if (Math.abs(sum - 1) > SUM_TOLERANCE) throw refuse()
}

function optional(value: unknown, check: (value: unknown) => void): void {
  if (value !== undefined && value !== null) check(value)
}

function firstDefined<T>(...values: readonly (T | undefined)[]): T | undefined {
  return values.find(value => value !== undefined)
}
