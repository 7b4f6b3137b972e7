/** From the filter as callers write it to the filter tree. */
import { invalidArgument } from '../model/errors.ts'
import type { FieldName, Filter, Scalar } from '../model/filter.ts'
import { toInstant } from '../model/instant.ts'
import type { FilterInput } from '../model/query-input.ts'

type Period = NonNullable<FilterInput['created']>
type MetadataCondition = NonNullable<FilterInput['metadata']>[string]

const PERIODS = ['created', 'updated', 'accessed', 'known'] as const

/**
 * All of these must hold; empty when nothing is asked. Throws `invalid_argument` for a period that cannot be, and for a field
 * that is none of `fields`.
 */
export function filterFromInput(input: FilterInput, fields: readonly FieldName[]): readonly Filter[] {
  return [
    ...anyValue('collection', input.collections),
    ...anyValue('kind', input.kinds),
    ...(input.tags ?? []).map(tag => equal('tag', tag)),
    ...anyValue('tag', input.any_tags),
    ...(input.not_tags ?? []).map(tag => not(equal('tag', tag))),
    ...anyValue('id', input.ids),
    ...Object.entries(input.metadata ?? {}).flatMap(([path, condition]) =>
      conditionFilters(`metadata.${path}`, condition),
    ),
    ...Object.entries(input.fields ?? {}).flatMap(([name, condition]) =>
      conditionFilters(assertField(name, fields), condition),
    ),
    ...PERIODS.flatMap(field => periodFilters(field, input[field])),
    ...(input.valid_at === undefined ? [] : validAt(toInstant(input.valid_at, 'filter.valid_at'))),
  ]
}

/** One filter for several that must all hold; null for none. */
export function allOf(filters: readonly Filter[]): Filter | null {
  if (filters.length === 0) return null
  return filters.length === 1 ? (filters[0] as Filter) : { op: 'and', of: filters }
}

/** Holds at this moment: begun (or without a beginning) and not ended (or without an end). */
export function validAt(instant: number): readonly Filter[] {
  return [
    not({ op: 'gt', field: 'valid_from', value: instant }),
    not({ op: 'lte', field: 'valid_until', value: instant }),
  ]
}

function anyValue(field: FieldName, values: readonly string[] | undefined): readonly Filter[] {
  return values === undefined ? [] : [{ op: 'in', field, values }]
}

function equal(field: FieldName, value: Scalar): Filter {
  return { op: 'eq', field, value }
}

function not(of: Filter): Filter {
  return { op: 'not', of }
}

/** Of an aspect: the others have conditions of their own. */
function assertField(name: string, fields: readonly FieldName[]): FieldName {
  const known = fields.filter(field => field.includes('.'))
  if (known.includes(name)) return name
  const ofSame = known.filter(field => aspectOf(field) === aspectOf(name))
  const expected =
    ofSame.length > 0 ? `one of ${ofSame.join(', ')}` : `a field of ${[...new Set(known.map(aspectOf))].join(', ')}`
  throw invalidArgument('filter.fields', name, known.length === 0 ? 'none: no lens brings any' : expected)
}

function aspectOf(field: FieldName): string {
  return field.split('.', 1)[0] as string
}

function conditionFilters(field: FieldName, condition: MetadataCondition): readonly Filter[] {
  if (typeof condition !== 'object') return [equal(field, condition)]
  if (Array.isArray(condition)) return [{ op: 'in', field, values: condition }]
  const { contains, exists, ...comparisons } = condition as Exclude<typeof condition, readonly Scalar[]>
  const filters: Filter[] = []
  for (const op of ['eq', 'gt', 'gte', 'lt', 'lte'] as const) {
    const value = comparisons[op]
    if (value !== undefined) filters.push({ op, field, value })
  }
  if (contains !== undefined) filters.push({ op: 'contains', field, text: contains })
  if (exists !== undefined) filters.push(exists ? { op: 'exists', field } : not({ op: 'exists', field }))
  return filters
}

/** `after` is included, `before` excluded. */
function periodFilters(field: FieldName, period: Period | undefined): readonly Filter[] {
  if (period === undefined) return []
  const after = period.after === undefined ? null : toInstant(period.after, `filter.${field}.after`)
  const before = period.before === undefined ? null : toInstant(period.before, `filter.${field}.before`)
  if (after !== null && before !== null && after >= before) {
    throw invalidArgument(`filter.${field}`, period, 'a period whose `after` is earlier than its `before`')
  }
  const filters: Filter[] = []
  if (after !== null) filters.push({ op: 'gte', field, value: after })
  if (before !== null) filters.push({ op: 'lt', field, value: before })
  return filters
}
