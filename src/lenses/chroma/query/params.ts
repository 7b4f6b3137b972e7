/** Which of several sources gives a parameter of a query (CQ-003 to CQ-005). */
import type { QueryOptions, QueryParams, ScoreWeights } from '../model.ts'

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

function firstDefined<T>(...values: readonly (T | undefined)[]): T | undefined {
  return values.find(value => value !== undefined)
}
