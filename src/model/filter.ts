/**
 * The filter tree: conditions on an entry, apart from matching the query's text. The predicate `matches` defines what a filter means; a
 * store compiles the tree to its own query language, and a property test checks that both agree.
 *
 * Logic is two-valued: a comparison with a missing value is false, and its negation is true. Values are compared strictly by type (a number
 * never equals a text), and texts by code point (`compareText`). A field with a list (tags, or a metadata array) meets a comparison when
 * one of its scalar elements does.
 */
import type { Json } from '../base/canonical.ts'
import { compareText } from '../base/compare.ts'
import type { AccessState, Entry } from './entry.ts'

export type Scalar = string | number | boolean

/**
 * Name of a field in a filter: `id`, `collection`, `kind`, `title`, `holder`, `origin`, `tag`, `created`, `updated`, `valid_from`,
 * `valid_until`, `known`, `accessed` (by this viewer), a metadata path `metadata.<key>[.<key>…]`, or an aspect's column
 * `<aspect>.<column>`. Times are instants (ms).
 */
export type FieldName = string

export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'eq' | 'lt' | 'lte' | 'gt' | 'gte'; readonly field: FieldName; readonly value: Scalar }
  | { readonly op: 'in'; readonly field: FieldName; readonly values: readonly Scalar[] }
  /** True where the text value contains `text`, without regard to case (both sides are folded by `foldCase`). */
  | { readonly op: 'contains'; readonly field: FieldName; readonly text: string }
  | { readonly op: 'exists'; readonly field: FieldName }

/** Names of the fields that every entry has; `metadata.…` paths and columns of aspects are not listed. */
export const ENTRY_FIELDS: readonly FieldName[] = [
  'id',
  'collection',
  'kind',
  'title',
  'holder',
  'origin',
  'tag',
  'created',
  'updated',
  'accessed',
  'valid_from',
  'valid_until',
  'known',
]

/**
 * Name of a condition in a query's text that keeps entries linked with a named entry. Entries have no field of this name: before retrieval,
 * the condition is replaced by a filter on ids.
 */
export const LINKED: FieldName = 'linked'

/** Fields whose value is an instant. */
export const TIME_FIELDS: readonly FieldName[] = [
  'created',
  'updated',
  'accessed',
  'valid_from',
  'valid_until',
  'known',
]

/**
 * The data of one entry on which a filter is evaluated. `aspect`: gives the entry's value in a column of an aspect (a table with at most
 * one row per entry), or null where the entry has no row there.
 */
export interface FilterSubject {
  readonly entry: Entry
  readonly access: AccessState | null
  aspect(name: string, column: string): Scalar | null
}

export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Whether an entry meets a filter; this function defines what filters mean. */
export function matches(filter: Filter, subject: FilterSubject): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.every(part => matches(part, subject))
    case 'or':
      return filter.of.some(part => matches(part, subject))
    case 'not':
      return !matches(filter.of, subject)
    case 'in':
      return valuesOf(filter.field, subject).some(value => filter.values.includes(value))
    case 'exists':
      return valuesOf(filter.field, subject).length > 0
    case 'contains': {
      const wanted = foldCase(filter.text)
      return valuesOf(filter.field, subject).some(v => typeof v === 'string' && foldCase(v).includes(wanted))
    }
    default:
      return valuesOf(filter.field, subject).some(value => holds(filter.op, value, filter.value))
  }
}

function holds(op: 'eq' | 'lt' | 'lte' | 'gt' | 'gte', value: Scalar, wanted: Scalar): boolean {
  if (typeof value !== typeof wanted) return false
  if (op === 'eq') return value === wanted
  if (typeof value === 'string') return inOrder(op, compareText(value, wanted as string), 0)
  return inOrder(op, Number(value), Number(wanted))
}

function inOrder(op: 'lt' | 'lte' | 'gt' | 'gte', a: number, b: number): boolean {
  switch (op) {
    case 'lt':
      return a < b
    case 'lte':
      return a <= b
    case 'gt':
      return a > b
    case 'gte':
      return a >= b
  }
}

/** All scalar values of a field: none when it is missing, several when it is a list. */
export function valuesOf(field: FieldName, subject: FilterSubject): readonly Scalar[] {
  const { entry } = subject
  switch (field) {
    case 'id':
    case 'collection':
    case 'kind':
    case 'title':
      return [entry[field]]
    case 'holder':
      return [entry.audience.holder]
    case 'origin':
      return scalars(entry.origin)
    case 'tag':
      return entry.tags
    case 'created':
      return [entry.createdAt]
    case 'updated':
      return [entry.updatedAt]
    case 'valid_from':
      return scalars(entry.validFrom)
    case 'valid_until':
      return scalars(entry.validUntil)
    case 'known':
      return [entry.knownAt]
    case 'accessed':
      return scalars(subject.access?.lastAccessed ?? null)
  }
  const [head = '', ...path] = field.split('.')
  if (head === 'metadata') return scalars(valueAt(entry.metadata, path))
  return scalars(subject.aspect(head, path.join('.')))
}

function valueAt(object: Json, path: readonly string[]): Json {
  let value: Json = object
  for (const key of path) {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, key)) return null
    value = (value as { readonly [key: string]: Json })[key] as Json
  }
  return value
}

function scalars(value: Json): readonly Scalar[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value]
  return list.filter((item): item is Scalar => item !== null && typeof item !== 'object')
}
