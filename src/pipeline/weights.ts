/**
 * How much words and meaning count: 0.3 and 0.7 in prose, 0.15 and 0.85 in code (measured: docs/decisions/010). Of a store
 * that holds both, between the two, by the share of code among the entries that a question is asked of: so a question about
 * code is weighed the same whether a filter or the store itself leaves out the prose. A question with an identifier is
 * weighed as prose: only words can match it exactly.
 */
import type { Filter } from '../model/filter.ts'
import { filtered } from './conditions.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Weights } from './stage.ts'

const MEANING = 0.7
const MEANING_IN_CODE = 0.85

/** Files of code, and what is read out of them. */
const CODE: Filter = { op: 'in', field: 'kind', values: ['code', 'concept'] }

/** For a question that has a vector. */
export function weightsOf(plan: Plan, context: QueryContext): Weights {
  if (plan.mode === 'meaning') return weightsWith(1)
  return weightsWith(
    plan.query.meaningWeight ?? meaningIn(hasIdentifier(plan.parsed.residual) ? 0 : codeShare(plan, context)),
  )
}

/** `code`: its share, 0 to 1. */
function meaningIn(code: number): number {
  return (1 - code) * MEANING + code * MEANING_IN_CODE
}

/**
 * Share of code among the visible entries that fulfil the conditions, in hundredths, 0 to 1: what is hidden changes no
 * weight, and one write in a large store seldom does. Costs two lookups of remembered sets.
 */
function codeShare(plan: Plan, context: QueryContext): number {
  const { memo, reader, accessScope } = context
  const code = memo.matching(reader, accessScope, CODE)
  if (code.size === 0) return 0
  const asked = filtered(plan, context) ?? memo.visible(reader, accessScope)
  return asked.size === 0 ? 0 : Math.round((100 * code.and(asked).size) / asked.size) / 100
}

/** Words have what meaning leaves over. 1 - 0.7 is 0.30000000000000004; people wrote 0.3. */
export function weightsWith(meaning: number): Weights {
  return { words: Number((1 - meaning).toFixed(12)), meaning }
}

/** camelCase, snake_case, `a.b`, `f()`. */
export function hasIdentifier(text: string): boolean {
  return /\p{Ll}\p{Lu}|[\p{L}\d]_[\p{L}\d]|\p{L}[\p{L}\d]*\.\p{L}[\p{L}\d]*\p{L}|[\p{L}\d]\(\)/u.test(text)
}
