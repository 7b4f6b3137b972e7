/** Checks what the questions beside a query are given (BQ-110, BQ-170 to BQ-176, BQ-089). */
import type { Asker, CheckedContext, CheckedQuery, CheckedScope, ConfidenceBound } from './checked.ts'
import { contextOf } from './context.ts'
import { type Check, checked, type Place } from './faults.ts'
import { minConfidence } from './filters.ts'
import { DEFAULT_LIMIT, LOCAL, limit, scope } from './options.ts'
import { queryOf, queryWith } from './query.ts'
import { listOf, type Members, members, orNull, type Shape, uniqueItems } from './shapes.ts'
import { boolean, id, integerIn, numberIn, oneOf } from './values.ts'

export const FACET_FIELDS = ['domains', 'holder_id', 'derivation_type', 'visibility', 'confidence_bucket'] as const
export type FacetField = (typeof FACET_FIELDS)[number]

export const PURPOSES = ['answer', 'verify', 'explore', 'decide', 'create'] as const
export type Purpose = (typeof PURPOSES)[number]

export const EXPANSIONS = ['derivation', 'contradictions', 'similar'] as const
export type Expansion = (typeof EXPANSIONS)[number]
/** Steps of the derivation that `expand` shows. */
export const EXPANSION_DEPTH = 5

/** `{belief_id, query, other_id}`. */
export interface CheckedExplain {
  readonly beliefId: string
  /** What it is compared with; null: nothing. */
  readonly otherId: string | null
  readonly query: CheckedQuery
}

export function checkExplain(input: unknown, asker: Asker): CheckedExplain {
  const shape = { belief_id: id, query: queryOf(asker), other_id: orNull(id) }
  return checked(input, (value, at) => {
    const given = members(value, at, shape, { required: ['belief_id', 'query'] })
    if (given?.belief_id === undefined || given.query === undefined) return undefined
    return { beliefId: given.belief_id, otherId: given.other_id ?? null, query: given.query }
  })
}

/** `{query, fields}`. */
export interface CheckedFacets {
  readonly query: CheckedQuery
  /** Each once, as they were named. */
  readonly fields: readonly FacetField[]
}

export function checkFacets(input: unknown, asker: Asker): CheckedFacets {
  const shape = { query: queryOf(asker), fields: listOf(oneOf(FACET_FIELDS), MOST_FIELDS, 'fields') }
  return checked(input, (value, at) => {
    const given = members(value, at, shape, { required: ['query', 'fields'] })
    if (given?.query === undefined || given.fields === undefined) return undefined
    return { query: given.query, fields: uniqueItems(given.fields) }
  })
}

/** `{belief_id, context, options}`. */
export interface CheckedSimilar {
  readonly beliefId: string
  readonly context: CheckedContext
  readonly limit: number
  readonly scope: CheckedScope
  readonly includeSameHolder: boolean
  /** Raw cosine, -1 to 1. */
  readonly minSimilarity: number
}

export function checkSimilar(input: unknown, asker: Asker): CheckedSimilar {
  const more = { include_same_holder: boolean, min_similarity: numberIn({ least: -1, most: 1 }) }
  return checked(input, (value, at) => {
    const given = aboutBelief(value, at, asker, more)
    if (given === undefined) return undefined
    const { more: own, ...rest } = given
    const { include_same_holder: includeSameHolder = false, min_similarity: minSimilarity = 0.7 } = own
    return { ...rest, includeSameHolder, minSimilarity }
  })
}

/** `{belief_id, context, options}`. */
export interface CheckedContradictions {
  readonly beliefId: string
  readonly context: CheckedContext
  readonly limit: number
  readonly scope: CheckedScope
  /** All must hold for what contradicts. */
  readonly confidence: readonly ConfidenceBound[]
}

export function checkContradictions(input: unknown, asker: Asker): CheckedContradictions {
  return checked(input, (value, at) => {
    const given = aboutBelief(value, at, asker, { min_confidence: minConfidence })
    if (given === undefined) return undefined
    const { more: own, ...rest } = given
    return { ...rest, confidence: own.min_confidence ?? [] }
  })
}

/** `{queries}`: 1 to 20, each to be checked apart, for one that fails leaves the others be. */
export function checkBatch(input: unknown): readonly unknown[] {
  return checked(input, (value, at) => {
    const given = members(
      value,
      at,
      { queries: listOf<unknown>(anything, MOST_QUERIES, 'queries') },
      { required: ['queries'] },
    )
    const queries = given?.queries
    return queries?.length === 0
      ? at.member('queries').fault('range', `1 to ${MOST_QUERIES} queries`, queries)
      : queries
  })
}

/** A query, and `{purpose, max_tokens, target_tokens}`. */
export interface CheckedContextQuery {
  readonly query: CheckedQuery
  readonly purpose: Purpose
  /** Never exceeded. */
  readonly maxTokens: number
  /** What is aimed at; at most `maxTokens`. */
  readonly targetTokens: number
}

export function checkContextQuery(input: unknown, asker: Asker): CheckedContextQuery {
  const more = { purpose: oneOf(PURPOSES), max_tokens: tokens, target_tokens: tokens }
  return checked(input, (value, at) => {
    const given = queryWith(asker, more, ['purpose', 'max_tokens'])(value, at)
    if (given === undefined) return undefined
    const { purpose, max_tokens: maxTokens, target_tokens: targetTokens = maxTokens } = given.more
    if (purpose === undefined || maxTokens === undefined || targetTokens === undefined) return undefined
    if (targetTokens > maxTokens)
      return at.member('target_tokens').fault('range', `at most max_tokens, ${maxTokens}`, targetTokens)
    return { query: given.query, purpose, maxTokens, targetTokens }
  })
}

/** `{belief_id, include, max_additional_tokens, context, scope}`. */
export interface CheckedExpand {
  readonly beliefId: string
  readonly include: readonly Expansion[]
  readonly maxAdditionalTokens: number
  readonly context: CheckedContext
  readonly scope: CheckedScope
}

export function checkExpand(input: unknown, asker: Asker): CheckedExpand {
  const context = contextOf(asker)
  const include = listOf(oneOf(EXPANSIONS), MOST_FIELDS, 'expansions')
  const shape = { belief_id: id, include, max_additional_tokens: tokens, context, scope }
  return checked(input, (value, at) => {
    const given = members(value, at, shape, { required: ['belief_id', 'max_additional_tokens'] })
    const checkedContext = given?.context ?? context({}, at.member('context'))
    if (given?.belief_id === undefined || given.max_additional_tokens === undefined) return undefined
    if (checkedContext === undefined) return undefined
    return {
      beliefId: given.belief_id,
      include: uniqueItems(given.include ?? EXPANSIONS),
      maxAdditionalTokens: given.max_additional_tokens,
      context: checkedContext,
      scope: given.scope ?? LOCAL,
    }
  })
}

/** `{belief_id, max_depth}`. */
export interface CheckedDerivation {
  readonly beliefId: string
  /** 1 to 10. */
  readonly maxDepth: number
}

export function checkDerivation(input: unknown): CheckedDerivation {
  return checked(input, (value, at) => {
    const given = members(value, at, { belief_id: id, max_depth: integerIn({ least: 1, most: 10 }) }, OF_BELIEF)
    return given?.belief_id === undefined ? undefined : { beliefId: given.belief_id, maxDepth: given.max_depth ?? 5 }
  })
}

/** `{belief_id, include_superseded}` (BQ-005). */
interface CheckedGet {
  readonly beliefId: string
  readonly includeSuperseded: boolean
}

export function checkGet(input: unknown): CheckedGet {
  return checked(input, (value, at) => {
    const given = members(value, at, { belief_id: id, include_superseded: boolean }, OF_BELIEF)
    if (given?.belief_id === undefined) return undefined
    return { beliefId: given.belief_id, includeSuperseded: given.include_superseded ?? false }
  })
}

/** `{calibrate}`. */
export function checkDiagnostics(input: unknown): { readonly calibrate: boolean } {
  return checked(input, (value, at) => {
    const given = members(value, at, { calibrate: boolean })
    return given && { calibrate: given.calibrate ?? true }
  })
}

const MOST_QUERIES = 20
/** Of a list whose values are few and known. */
const MOST_FIELDS = 50
const OF_BELIEF = { required: ['belief_id'] }

const PAGE = { limit, scope }
const tokens = integerIn({ least: 1, most: 1_000_000 })

const anything: Check<unknown> = value => (value === undefined ? null : value)

interface AboutBelief<S extends Shape> {
  readonly beliefId: string
  readonly context: CheckedContext
  readonly limit: number
  readonly scope: CheckedScope
  readonly more: Members<S>
}

/** A question about one belief: `belief_id`, `context`, and options with a limit, a scope and more. */
function aboutBelief<S extends Shape>(value: unknown, at: Place, asker: Asker, more: S): AboutBelief<S> | undefined {
  const contextCheck = contextOf(asker)
  const optionsCheck = (given: unknown, place: Place) => members<Shape>(given, place, { ...more, ...PAGE })
  const given = members(value, at, { belief_id: id, context: contextCheck, options: optionsCheck }, OF_BELIEF)
  const context = given?.context ?? contextCheck({}, at.member('context'))
  if (given?.belief_id === undefined || context === undefined) return undefined
  // The casts: what was found of each member is what its own check gave.
  const options = (given.options ?? {}) as Members<S> & Members<typeof PAGE>
  return {
    beliefId: given.belief_id,
    context,
    limit: options.limit ?? DEFAULT_LIMIT,
    scope: options.scope ?? LOCAL,
    more: options,
  }
}
