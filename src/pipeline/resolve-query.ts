/**
 * Converts a request, already checked against its schema (`queryInput`), to the query on which the pipeline runs: all values are resolved,
 * and none is optional.
 */
import { canonicalJson, type JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { invalidArgument } from '../model/errors.ts'
import type { FieldName, Filter, Scalar } from '../model/filter.ts'
import { toInstant } from '../model/instant.ts'
import { type Position, QUERY_DEFAULTS, type Query } from '../model/query.ts'
import type { FilterInput, QueryInput } from '../model/query-input.ts'
import type { Viewer } from '../model/viewer.ts'
import { readCursor } from './cursor.ts'

export interface Asked {
  readonly viewer: Viewer
  readonly now: Instant
  /** Returns the secret key that signs cursors; called only where a cursor is needed. */
  secret(): string
  /** Name of the lens (a named way to query and rank) that is used where a query names none. */
  readonly defaultLens: string
  /**
   * Whether a list of entries made with this lens (a named way to query and rank) counts as a use of each entry shown, where the request
   * does not say.
   */
  readonly countsListing: (lens: string) => boolean
  /**
   * Checks and completes the options of a lens by its schema. Throws `unknown_field` or `invalid_argument`, naming the option as
   * `options.<name>`.
   */
  readonly optionsOf: (lens: string, given: Readonly<Record<string, unknown>>) => unknown
  /** Names of the fields that a filter may use. */
  readonly fields: readonly FieldName[]
}

/** Request fields that affect neither which entries are found nor their order, so that they may differ between the pages of one answer. */
const FREE = ['cursor', 'limit', 'explain', 'trace', 'touch', 'timeout_ms', 'excerpt_length', 'passages', 'chunk_size']

/**
 * Converts a request to a query. Throws `invalid_argument` where a period ends before it begins, or where several passages per result are
 * requested although results are passages; also throws the errors of invalid cursors.
 */
export function resolveQuery(input: QueryInput, asked: Asked): Query {
  const { group = QUERY_DEFAULTS.group, passages = 1 } = input
  if (group === 'passage' && passages > 1) {
    throw invalidArgument('passages', passages, '1, because with group passage each result is one passage')
  }
  const lens = input.lens ?? asked.defaultLens
  let text: string | null = null
  const binding = () => {
    text ??= bindingOf(input, lens, asked.viewer)
    return text
  }
  const start = startOf(input, binding, asked)
  const defaults = QUERY_DEFAULTS
  return {
    text: input.text,
    syntax: input.syntax ?? defaults.syntax,
    phrase: input.phrase ?? null,
    lens,
    options: asked.optionsOf(lens, input.options ?? {}),
    limit: input.limit ?? defaults.limit,
    cursor: input.cursor ?? null,
    after: start.after,
    binding,
    filter: conditionsOf(input, asked.fields),
    mode: input.mode ?? defaults.mode,
    meaningWeight: input.meaning_weight ?? null,
    memory: input.memory ?? defaults.memory,
    touch: input.touch ?? asked.countsListing(lens),
    diversity: input.diversity ?? defaults.diversity,
    perCollection: input.per_collection ?? null,
    perOrigin: input.per_origin ?? null,
    any: input.any ?? defaults.any,
    explain: input.explain ?? defaults.explain,
    trace: input.trace ?? defaults.trace,
    approximate: input.approximate ?? defaults.approximate,
    timeoutMs: input.timeout_ms ?? defaults.timeoutMs,
    excerptLength: input.excerpt_length ?? defaults.excerptLength,
    group,
    passages: input.passages ?? null,
    asOf: start.asOf,
    begun: start.begun,
  }
}

function bindingOf(input: QueryInput, lens: string, viewer: Viewer): string {
  const given = Object.entries(input).filter(([name, value]) => !FREE.includes(name) && value !== undefined)
  // A cursor is only valid for its own request, which is compared as JSON text. The conversion to JSON and back removes fields that are
  // present but undefined, so that they make no difference.
  const plain = JSON.parse(JSON.stringify(Object.fromEntries(given))) as JsonObject
  return canonicalJson({ plain, lens, viewer: viewer.id })
}

function startOf(
  input: QueryInput,
  binding: () => string,
  asked: Asked,
): { after: Position | null; asOf: Instant; begun: Instant } {
  const { now } = asked
  if (input.cursor !== undefined) {
    const { position, asOf, begun } = readCursor(input.cursor, { secret: asked.secret(), binding: binding(), now })
    return { after: position, asOf, begun }
  }
  return { after: null, asOf: input.as_of === undefined ? now : toInstant(input.as_of, 'as_of'), begun: now }
}

function conditionsOf(input: QueryInput, fields: readonly FieldName[]): Filter | null {
  const parts: Filter[] = input.filter === undefined ? [] : [...filterFromInput(input.filter, fields)]
  if (input.known_at !== undefined) {
    parts.push({ op: 'lte', field: 'known', value: toInstant(input.known_at, 'known_at') })
  }
  return allOf(parts)
}

// Converts the filter of a request, in its JSON form, to a filter tree.

type Period = NonNullable<FilterInput['created']>
type MetadataCondition = NonNullable<FilterInput['metadata']>[string]

const PERIODS = ['created', 'updated', 'accessed', 'known'] as const

/**
 * Converts the filter of a request to conditions that must all hold; empty where it has none. Throws `invalid_argument` for a period that
 * ends before it begins, and for a field that is not in `fields`.
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

/** Combines filters that must all hold into one; null where there are none. */
export function allOf(filters: readonly Filter[]): Filter | null {
  if (filters.length === 0) return null
  return filters.length === 1 ? (filters[0] as Filter) : { op: 'and', of: filters }
}

/**
 * Filters for entries that are valid at this time: their validity period has begun or has no beginning, and has not ended or has no end.
 */
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

/**
 * Checks the name of a column in a lens's table (aspect), such as `belief.corroboration`. Other fields have filter properties of their own,
 * so they are not accepted here.
 */
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

/** Filters for a period of time: `after` is included, `before` is excluded. */
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
