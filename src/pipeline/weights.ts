/**
 * How much words and meaning count. Measured on prose: 0.3 and 0.7. Code is written in few words that say little, so there
 * meaning gets 0.85, unless the question holds an identifier, which only words can match exactly.
 */
import type { Filter } from '../model/filter.ts'
import type { Plan, Weights } from './stage.ts'

const MEANING = 0.7
const MEANING_IN_CODE = 0.85

/** For a question that has a vector. */
export function weightsOf(plan: Plan): Weights {
  if (plan.mode === 'meaning') return weightsWith(1)
  const isCode = plan.filter !== null && onlyCode(plan.filter) && !hasIdentifier(plan.parsed.residual)
  const meaning = plan.query.meaningWeight ?? (isCode ? MEANING_IN_CODE : MEANING)
  return weightsWith(meaning)
}

/** Words have what meaning leaves over. 1 - 0.7 is 0.30000000000000004; people wrote 0.3. */
export function weightsWith(meaning: number): Weights {
  return { words: Number((1 - meaning).toFixed(12)), meaning }
}

/** camelCase, snake_case, `a.b`, `f()`. */
export function hasIdentifier(text: string): boolean {
  return /\p{Ll}\p{Lu}|[\p{L}\d]_[\p{L}\d]|\p{L}[\p{L}\d]*\.\p{L}[\p{L}\d]*\p{L}|[\p{L}\d]\(\)/u.test(text)
}

/** Whether nothing but entries of kind `code` can fulfil the filter. */
function onlyCode(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(onlyCode)
    case 'or':
      return filter.of.length > 0 && filter.of.every(onlyCode)
    case 'eq':
      return filter.field === 'kind' && filter.value === 'code'
    case 'in':
      return filter.field === 'kind' && filter.values.every(value => value === 'code')
    default:
      return false
  }
}
