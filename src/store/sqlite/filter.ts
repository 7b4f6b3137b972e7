/**
 * A filter tree as SQL over `entries e`, with the very meaning of `matches`. Values are always parameters.
 *
 * Between the leaves NULL may stand for false, as `and`, `or` and `where` take it so; `not` is written `is not true`,
 * which makes it two-valued again. No comparison ever meets a value of another type: SQLite would convert one of them.
 */
import { unreachable } from '../../base/assert.ts'
import { type Filter, foldCase, type Scalar } from '../../model/filter.ts'
import type { Viewer } from '../../model/viewer.ts'
import { truthValue } from './rows.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'

export interface SqlCondition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** Where an aspect's column is to be found, or undefined when nothing was ever stored there. */
export type AspectLookup = (
  aspect: string,
  column: string,
) => { table: string; column: string; type: ValueType } | undefined

/** `any`: numbers, texts and truth values side by side, told apart by storage class (see `schema.ts`). */
export type ValueType = 'text' | 'number' | 'any'

type Comparison = Exclude<Filter, { op: 'and' | 'or' | 'not' }>

/** How a field's values are reached: an expression and its type, inside a wrapper that fits the condition in. */
interface Source {
  readonly value: string
  readonly type: ValueType
  wrap(test: SqlCondition): SqlCondition
}

const NEVER: SqlCondition = { sql: '0', values: [] }
const ALWAYS: SqlCondition = { sql: '1', values: [] }

/** Registers the function that conditions call. */
export function defineFilterFunctions(db: SqlDatabase): void {
  db.define('contains_folded', (value, folded) =>
    Number(typeof value === 'string' && foldCase(value).includes(folded as string)),
  )
}

export function compileFilter(filter: Filter, viewer: Viewer, aspect: AspectLookup): SqlCondition {
  const compile = (node: Filter): SqlCondition => {
    switch (node.op) {
      case 'and':
        return joinBalanced('and', node.of.map(compile), ALWAYS)
      case 'or':
        return joinBalanced('or', node.of.map(compile), NEVER)
      case 'not':
        return around('(', compile(node.of), ') is not true')
      default: {
        const source = sourceOf(node.field, viewer, aspect)
        return source ? source.wrap(test(node, source)) : NEVER
      }
    }
  }
  return compile(filter)
}

/** As a tree, not a chain: SQLite allows a depth of 1,000. */
function joinBalanced(op: 'and' | 'or', parts: readonly SqlCondition[], empty: SqlCondition): SqlCondition {
  const [first] = parts
  if (first === undefined) return empty
  if (parts.length === 1) return first
  const left = joinBalanced(op, parts.slice(0, parts.length >> 1), empty)
  const right = joinBalanced(op, parts.slice(parts.length >> 1), empty)
  return { sql: `(${left.sql} ${op} ${right.sql})`, values: [...left.values, ...right.values] }
}

function sourceOf(field: string, viewer: Viewer, aspect: AspectLookup): Source | undefined {
  const own = COLUMNS.get(field)
  if (own !== undefined) return { ...own, wrap: condition => condition }
  if (field === 'tag') return rows('entry_tags', 'tag', 'text')
  if (field === 'accessed') return rows('access', 'last_accessed', 'number', 'viewer', viewer.id)
  const point = field.indexOf('.')
  if (point < 0) return undefined
  const [head, rest] = [field.slice(0, point), field.slice(point + 1)]
  if (head === 'metadata') return rows('entry_values', 'value', 'any', 'path', rest)
  const found = aspect(head, rest)
  return found && rows(found.table, found.column, found.type)
}

const COLUMNS: ReadonlyMap<string, { value: string; type: ValueType }> = new Map([
  ['id', { value: 'e.id', type: 'text' }],
  ['collection', { value: 'e.collection', type: 'text' }],
  ['kind', { value: 'e.kind', type: 'text' }],
  ['title', { value: 'e.title', type: 'text' }],
  ['holder', { value: 'e.holder', type: 'text' }],
  ['origin', { value: 'e.origin', type: 'text' }],
  ['created', { value: 'e.created_at', type: 'number' }],
  ['updated', { value: 'e.updated_at', type: 'number' }],
  ['valid_from', { value: 'e.valid_from', type: 'number' }],
  ['valid_until', { value: 'e.valid_until', type: 'number' }],
  ['known', { value: 'e.known_at', type: 'number' }],
])

/** Values that stand in rows of another table with a column `entry`; of those where `column` is `is`, if given. */
function rows(table: string, value: string, type: ValueType, column?: string, is?: string): Source {
  const where = column === undefined ? '' : `"${column}" = ? and `
  return {
    value: `"${value}"`,
    type,
    wrap: ({ sql, values }) => ({
      sql: `e.key in (select entry from "${table}" where ${where}${sql})`,
      values: is === undefined ? values : [is, ...values],
    }),
  }
}

/** The condition on one value. */
function test(node: Comparison, { value, type }: Source): SqlCondition {
  switch (node.op) {
    case 'exists':
      return { sql: `${value} is not null`, values: [] }
    case 'contains':
      return type === 'number' ? NEVER : { sql: `contains_folded(${value}, ?)`, values: [foldCase(node.text)] }
    case 'in': {
      const wanted = node.values.filter(one => comparable(one, type))
      if (wanted.length === 0) return NEVER
      return { sql: `${value} in (${wanted.map(() => '?').join(', ')})`, values: wanted.map(sqlValue) }
    }
    case 'eq':
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte': {
      if (!comparable(node.value, type)) return NEVER
      const condition = { sql: `${value} ${SIGNS[node.op]} ?`, values: [sqlValue(node.value)] }
      return type === 'any' && node.op !== 'eq' ? withinClass(condition, value, node.value) : condition
    }
    default:
      return unreachable(node)
  }
}

const SIGNS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

function comparable(wanted: Scalar, type: ValueType): boolean {
  return type === 'any' || typeof wanted === type.replace('text', 'string')
}

/** SQLite orders all numbers before all texts before all blobs: bounds keep a comparison among its like. */
function withinClass(condition: SqlCondition, value: string, wanted: Scalar): SqlCondition {
  switch (typeof wanted) {
    case 'number':
      return around('(', condition, ` and ${value} < '')`)
    case 'string':
      return around('(', condition, ` and ${value} >= '' and ${value} < x'')`)
    case 'boolean':
      return around('(', condition, ` and ${value} >= x'')`)
  }
}

function sqlValue(value: Scalar): SqlValue {
  return typeof value === 'boolean' ? truthValue(value) : value
}

function around(before: string, condition: SqlCondition, after: string): SqlCondition {
  return { sql: `${before}${condition.sql}${after}`, values: condition.values }
}
