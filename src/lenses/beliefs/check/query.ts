/**
 * Checks a query: semantic, filters, context and options (BQ-024 to BQ-026). Every fault is told at once, before anything
 * is embedded or read (BQ-186).
 */
import { temporalFactor, withTemporalFactor } from '../measures/weights.ts'
import type { Asker, CheckedOptions, CheckedQuery } from './checked.ts'
import { contextOf } from './context.ts'
import { type Check, checked, type Place } from './faults.ts'
import { filters } from './filters.ts'
import { options, streamedOptions } from './options.ts'
import { refusedMember } from './refused.ts'
import { isRecord, isWhole, type Members, members, type Shape } from './shapes.ts'
import { isBlankText, text } from './text.ts'

/** Throws INVALID_QUERY or INVALID_FILTERS with all faults, else UNAUTHORIZED. `path`: where the query stands in its request. */
export function checkQuery(input: unknown, asker: Asker, path = ''): CheckedQuery {
  return checked(input, queryOf(asker), path)
}

/** Of what is answered as a stream: `options.stream` may be asked for. */
export function checkStreamedQuery(input: unknown, asker: Asker): CheckedQuery {
  return checked(input, queryOf(asker, streamedOptions), '')
}

/** For requests that hold a query. */
export function queryOf(asker: Asker, optionsOf: Check<CheckedOptions> = options): Check<CheckedQuery> {
  return (value, at) => {
    const shape = queryShape(asker, value, optionsOf)
    const given = members(value, at, shape, QUERY)
    return given && completed(given, isWhole(value, given), shape, at)
  }
}

/** For requests that are a query and something more; `more` has its checks. Undefined after a fault. */
export function queryWith<S extends Shape>(
  asker: Asker,
  more: S,
  required: readonly string[] = [],
): Check<{ readonly query: CheckedQuery; readonly more: Members<S> }> {
  return (value, at) => {
    const shape = queryShape(asker, value)
    const options = { ...QUERY, required: [...QUERY.required, ...required] }
    const given = members<Shape>(value, at, { ...more, ...shape }, options)
    if (given === undefined) return undefined
    // The casts: the two shapes have no name in common, so what was found of each is what its own checks gave.
    const query = completed(given as Members<QueryShape>, isWhole(value, given), shape, at)
    return query && { query, more: given as Members<S> }
  }
}

type QueryShape = ReturnType<typeof queryShape>

const QUERY = { required: ['semantic'], unknown: refusedMember }

function queryShape(asker: Asker, value: unknown, optionsOf: Check<CheckedOptions> = options) {
  // The weights of the context depend on it, wherever in the request the text stands.
  const listMode = isRecord(value) && isBlankText(value['semantic'])
  return { semantic: text, filters, context: contextOf(asker, listMode), options: optionsOf }
}

function completed(
  given: Members<QueryShape>,
  isSound: boolean,
  shape: QueryShape,
  at: Place,
): CheckedQuery | undefined {
  const { semantic, filters: parts = [] } = given
  if (semantic === undefined) return undefined
  if (semantic === null && parts.length === 0 && isSound) {
    return at.member('semantic').fault('empty_query', 'a text to search by, or at least one filter to list by', '')
  }
  const context = given.context ?? shape.context({}, at.member('context'))
  const checkedOptions = given.options ?? options({}, at.member('options'))
  if (context === undefined || checkedOptions === undefined) return undefined
  const factor = checkedOptions.temporalIntent && semantic !== null ? temporalFactor(semantic.base) : 1
  return {
    semantic,
    filters: parts,
    context,
    options: checkedOptions,
    weights: withTemporalFactor(context.weights, factor),
    warnings: context.warnings,
  }
}
