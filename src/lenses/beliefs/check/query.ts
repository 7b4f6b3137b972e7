/**
 * Checks a query: semantic, filters, context and options (BQ-024 to BQ-026). Every fault is told at once, before anything
 * is embedded or read (BQ-186).
 */
import { temporalFactor, withTemporalFactor } from '../measures/weights.ts'
import type { Asker, CheckedQuery } from './checked.ts'
import { contextOf } from './context.ts'
import { type Check, checked } from './faults.ts'
import { filters } from './filters.ts'
import { options } from './options.ts'
import { refusedMember } from './refused.ts'
import { isRecord, isWhole, members } from './shapes.ts'
import { isBlankText, text } from './text.ts'

/** Throws INVALID_QUERY or INVALID_FILTERS with all faults, else UNAUTHORIZED. `path`: where the query stands in its request. */
export function checkQuery(input: unknown, asker: Asker, path = ''): CheckedQuery {
  return checked(input, queryOf(asker), path)
}

/** For requests that hold a query. */
export function queryOf(asker: Asker): Check<CheckedQuery> {
  return (value, at) => {
    // The weights of the context depend on it, wherever in the request the text stands.
    const listMode = isRecord(value) && isBlankText(value['semantic'])
    const context = contextOf(asker, listMode)
    const given = members(value, at, { semantic: text, filters, context, options }, SHAPE)
    if (given?.semantic === undefined) return undefined
    const { semantic, filters: parts = [] } = given
    if (semantic === null && parts.length === 0 && isWhole(value, given)) {
      return at.member('semantic').fault('empty_query', 'a text to search by, or at least one filter to list by', '')
    }
    const checkedContext = given.context ?? context({}, at.member('context'))
    const checkedOptions = given.options ?? options({}, at.member('options'))
    if (checkedContext === undefined || checkedOptions === undefined) return undefined
    const factor = checkedOptions.temporalIntent && semantic !== null ? temporalFactor(semantic.base) : 1
    return {
      semantic,
      filters: parts,
      context: checkedContext,
      options: checkedOptions,
      weights: withTemporalFactor(checkedContext.weights, factor),
      warnings: checkedContext.warnings,
    }
  }
}

const SHAPE = { required: ['semantic'], unknown: refusedMember }
