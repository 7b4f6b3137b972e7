/** Queries over many entries at once, in SQL: which entries match a filter, how many do, and lists of entries by page. */

import { unreachable } from '../../base/assert.ts'
import { Bitset } from '../../base/bitset.ts'
import type { EntryKey } from '../../model/entry.ts'
import { type Filter, foldCase, type Scalar } from '../../model/filter.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import { checkFilter } from '../check.ts'
import type { ListPosition, ListRequest } from '../store.ts'
import type { SqlDatabase, SqlValue } from './node-sqlite.ts'
import { keyList, limitOf, truthValue } from './rows.ts'
import type { SqlitePartitions } from './vectors.ts'

// Compiles a filter tree to an SQL condition over `entries e`, with exactly the meaning of `matches`. Values are always bound as
// parameters.
//
// Inside the condition NULL may occur instead of false, as `and`, `or` and `where` treat both alike; `not` is written `is not true`, which
// gives only true or false. No value is ever compared with one of another type, since SQLite would convert one of them.

export interface SqlCondition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * Finds the table and column for a field of an aspect (a lens's table, such as `belief.corroboration`); undefined when nothing was ever
 * stored for it.
 */
export type AspectLookup = (
  aspect: string,
  column: string,
) => { table: string; column: string; type: ValueType } | undefined

/**
 * Type of a field's values. `any`: numbers, texts and booleans may occur, distinguished by their SQLite storage class (see `schema.ts`).
 */
export type ValueType = 'text' | 'number' | 'any'

type Comparison = Exclude<Filter, { op: 'and' | 'or' | 'not' }>

/** How a field's values are reached in SQL: the expression for a value, its type, and a function that wraps a condition on the value. */
interface Source {
  readonly value: string
  readonly type: ValueType
  wrap(test: SqlCondition): SqlCondition
}

const NEVER: SqlCondition = { sql: '0', values: [] }
const ALWAYS: SqlCondition = { sql: '1', values: [] }

/** Registers the function `contains_folded` (case-insensitive substring test) in SQLite, which compiled filters call. */
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

/** Joins conditions with `and` or `or` as a balanced tree instead of a chain, since SQLite limits the depth of an expression to 1,000. */
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

/**
 * How a filter reaches a field whose values are in rows of another table, one row per value, with the entry's key in the column `entry`.
 * `column` and `is`: only rows in which `column` equals `is`.
 */
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

/** SQL condition of a comparison for a single value of the field. */
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

/** Restricts a comparison to values of the compared value's type, since SQLite orders all numbers before all texts before all blobs. */
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

export class SqliteSearch {
  readonly #db: SqlDatabase
  readonly #partitions: SqlitePartitions
  readonly #aspect: AspectLookup

  constructor(db: SqlDatabase, partitions: SqlitePartitions, aspect: AspectLookup) {
    this.#db = db
    this.#partitions = partitions
    this.#aspect = aspect
  }

  matching(accessScope: AccessScope, filter: Filter): Bitset {
    return this.#db.read(() => {
      const { sql, values } = this.#seen(accessScope, filter)
      // SQLite returns all keys as one JSON text, which takes half the time of one row per key.
      const keys = this.#rows<[string]>(`select json_group_array(e.key) from entries e where ${sql}`, values)
      return Bitset.of(JSON.parse(keys[0]?.[0] ?? '[]') as EntryKey[])
    })
  }

  count(accessScope: AccessScope, filter: Filter | null): number {
    return this.#db.read(() => {
      const { sql, values } = this.#seen(accessScope, filter)
      return this.#rows<[number]>(`select count(*) from entries e where ${sql}`, values)[0]?.[0] ?? 0
    })
  }

  list({ accessScope, filter, order, limit, after }: ListRequest): readonly EntryKey[] {
    return this.#db.read(() => {
      const of = { seen: this.#seen(accessScope, filter), isUnfiltered: filter === null, viewer: accessScope.viewer }
      return listKeys(this.#db, of, { order, limit: limitOf(limit), after })
    })
  }

  /**
   * Most frequent values of a field, each with the number of entries that have it and the key of one such entry (`example`). The caller
   * reads that entry to confirm the value.
   */
  facet(
    accessScope: AccessScope,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { readonly value: string; readonly count: number; readonly example: EntryKey }[] {
    return this.#db.read(() => {
      const { sql, values } = this.#visible(accessScope)
      const of = {
        collection: 'e.collection, count(*), min(e.key) from entries e',
        kind: 'e.kind, count(*), min(e.key) from entries e',
        tag: `t.tag, count(*), min(t.entry) from entry_tags t ${sql === EVERYTHING.sql ? '' : 'join entries e on e.key = t.entry'}`,
      }[field]
      const rows = this.#rows<[string, number, EntryKey]>(
        `select ${of} where ${sql} group by 1 order by 2 desc, 1 limit ?`,
        [...values, limitOf(limit)],
      )
      return rows.map(([value, count, example]) => ({ value, count, example }))
    })
  }

  ids(accessScope: AccessScope, from: string, limit: number): readonly string[] {
    return this.#db.read(() => {
      const { sql, values } = this.#visible(accessScope)
      const rows = this.#rows<[string]>(
        `select distinct e.id from entries e where ${sql} and e.id >= ? order by 1 limit ?`,
        [...values, from, limitOf(limit)],
      )
      return rows.map(([id]) => id)
    })
  }

  /**
   * Visible collections by name, each with one of its entries. The search jumps along an index from name to name, so its cost grows with
   * the number of names times partitions, not with the number of entries.
   */
  collections(
    accessScope: AccessScope,
    limit: number,
  ): readonly { readonly value: string; readonly example: EntryKey }[] {
    return this.#db.read(() => {
      const { sql, values } = this.#visible(accessScope)
      const isEverything = sql === EVERYTHING.sql
      const next = (condition: string) =>
        isEverything
          ? `select min(collection) from entries where ${condition}`
          : `select min((select min(collection) from entries where partition = p.value and ${condition})) from json_each(?) p`
      const key = isEverything
        ? 'select min(key) from entries where collection = name'
        : 'select min((select min(key) from entries where partition = p.value and collection = name)) from json_each(?) p'
      const rows = this.#rows<[string, EntryKey]>(
        `with recursive named(name) as (select (${next('1')}) union all
           select (${next('collection > name')}) from named where name is not null limit ?)
         select name, (${key}) from named where name is not null limit ?`,
        [...values, ...values, limitOf(limit + 1), ...values, limitOf(limit)],
      )
      return rows.map(([value, example]) => ({ value, example }))
    })
  }

  #seen(accessScope: AccessScope, filter: Filter | null): SqlCondition {
    const visible = this.#visible(accessScope)
    if (filter === null) return visible
    checkFilter(filter)
    const condition = compileFilter(filter, accessScope.viewer, this.#aspect)
    return { sql: `${visible.sql} and ${condition.sql}`, values: [...visible.values, ...condition.values] }
  }

  /** SQL condition that an entry is visible to the viewer; always true for a viewer who sees everything, which is usually the owner. */
  #visible(accessScope: AccessScope): SqlCondition {
    const all = this.#partitions.all()
    const seesAll =
      all.length === accessScope.partitions.length && all.every(({ id }, at) => id === accessScope.partitions[at])
    if (seesAll) return EVERYTHING
    return { sql: 'e.partition in (select value from json_each(?))', values: [keyList(accessScope.partitions)] }
  }

  #rows<Row extends readonly SqlValue[]>(sql: string, values: readonly SqlValue[]): readonly Row[] {
    return this.#db.prepareArrays<Row>(sql).all(...values)
  }
}

const EVERYTHING: SqlCondition = { sql: '1', values: [] }

// Pages of lists, read from SQLite by position. Where very many entries have an equal time (as after an import), or almost none was ever
// accessed, sorting all of them to show ten would take half a second for a million entries: such pages are read along an index instead.

/** Largest number of entries with an equal time that are sorted; for more entries, the index by id finds a page faster. */
const MAX_SORTED = 1_000

/** Which entries a list contains: those that meet a condition. */
interface ListedEntries {
  readonly seen: SqlCondition
  /** Whether the list has no filter. If so, the SQL names the index to use; if not, SQLite itself chooses how to find the entries. */
  readonly isUnfiltered: boolean
  readonly viewer: Viewer
}

type Place = Pick<ListRequest, 'limit' | 'after'>

function listKeys(db: SqlDatabase, of: ListedEntries, request: Place & Pick<ListRequest, 'order'>): EntryKey[] {
  const { order } = request
  switch (order) {
    case 'id':
      return byId(db, of, [behind(request.after)], request.limit)
    case 'created':
    case 'updated':
      return byTime(db, of, `${order}_at`, request)
    case 'accessed':
      return byAccess(db, of, request)
  }
}

function byId(db: SqlDatabase, of: ListedEntries, also: readonly SqlCondition[], limit: number): EntryKey[] {
  const where = allOf([of.seen, ...also])
  const sql = `select e.key from entries e ${of.isUnfiltered ? 'indexed by entries_by_id' : ''}
    where ${where.sql} order by e.id, e.holder limit ?`
  return keysOf(db, sql, [...where.values, limit])
}

type TimeColumn = 'created_at' | 'updated_at'

const INDEXES: Readonly<Record<TimeColumn, string>> = {
  created_at: 'indexed by entries_by_created',
  updated_at: 'indexed by entries_by_updated',
}

/** A page of a list of entries by time of creation or change, newest first. */
function byTime(db: SqlDatabase, of: ListedEntries, column: TimeColumn, { limit, after }: Place): EntryKey[] {
  const time = `e.${column}`
  const keys: EntryKey[] = []
  let left: SqlCondition =
    after === null
      ? ALWAYS
      : condition(`${time} <= ? and (${time} < ? or ${TIE})`, after.at, after.at, after.id, after.holder)
  let tied = after === null || after.at === null ? null : tiedTimeAt(db, of, column, after.at)
  for (;;) {
    tied ??= tiedTimeWithin(db, of, column, { left, limit: limit - keys.length })
    if (tied === null) return [...keys, ...sorted(db, of, column, { left, limit: limit - keys.length })]
    const newer = allOf([left, condition(`${time} > ?`, tied)])
    keys.push(...sorted(db, of, column, { left: newer, limit: limit - keys.length }))
    const tie = tied === after?.at ? behind(after) : ALWAYS
    keys.push(...byId(db, of, [condition(`${time} = ?`, tied), tie], limit - keys.length))
    if (keys.length === limit) return keys
    left = condition(`${time} < ?`, tied)
    tied = null
  }
}

interface Rest {
  readonly left: SqlCondition
  readonly limit: number
}

function sorted(db: SqlDatabase, of: ListedEntries, column: TimeColumn, { left, limit }: Rest): EntryKey[] {
  const where = allOf([of.seen, left])
  const sql = `select e.key from entries e ${of.isUnfiltered ? INDEXES[column] : ''}
    where ${where.sql} order by e.${column} desc, e.id, e.holder limit ?`
  return keysOf(db, sql, [...where.values, limit])
}

/** Of the next `limit` entries of a list, the time of the last one, if very many entries have that time; otherwise null. */
function tiedTimeWithin(db: SqlDatabase, of: ListedEntries, column: TimeColumn, { left, limit }: Rest): number | null {
  if (!of.isUnfiltered || limit === 0) return null
  const where = allOf([of.seen, left])
  const times = `select e.${column} as time from entries e ${INDEXES[column]}
    where ${where.sql} order by e.${column} desc limit ?`
  const last = db.prepareArrays<[number | null]>(`select min(time) from (${times})`).get(...where.values, limit)?.[0]
  return last === null || last === undefined ? null : tiedTimeAt(db, of, column, last)
}

/** Returns the given time if very many entries have it, otherwise null. */
function tiedTimeAt(db: SqlDatabase, of: ListedEntries, column: TimeColumn, time: number): number | null {
  if (!of.isUnfiltered) return null
  const some = `select 1 from entries e ${INDEXES[column]} where ${of.seen.sql} and e.${column} = ? limit ${MAX_SORTED + 1}`
  const count = db.prepareArrays<[number]>(`select count(*) from (${some})`).get(...of.seen.values, time)?.[0] ?? 0
  return count > MAX_SORTED ? time : null
}

/** A page of a list of entries by use: first those that the viewer used, last used first; then the others, by id. */
function byAccess(db: SqlDatabase, of: ListedEntries, { limit, after }: Place): EntryKey[] {
  const accessed = after !== null && after.at === null ? [] : usedLast(db, of, { limit, after })
  if (accessed.length === limit) return accessed
  const never = 'not exists (select 1 from access a where a.viewer = ? and a.entry = e.key)'
  const tie = after !== null && after.at === null ? behind(after) : ALWAYS
  return [...accessed, ...byId(db, of, [condition(never, of.viewer.id), tie], limit - accessed.length)]
}

function usedLast(db: SqlDatabase, { seen, viewer }: ListedEntries, { limit, after }: Place): EntryKey[] {
  const time = 'a.last_accessed'
  const behindPlace =
    after === null
      ? ALWAYS
      : condition(`(${time} < ? or (${time} = ? and ${TIE}))`, after.at, after.at, after.id, after.holder)
  const where = allOf([condition('a.viewer = ?', viewer.id), seen, behindPlace])
  const sql = `select e.key from access a cross join entries e on e.key = a.entry
    where ${where.sql} order by ${time} desc, e.id, e.holder limit ?`
  return keysOf(db, sql, [...where.values, limit])
}

const TIE = '(e.id, e.holder) > (?, ?)'

function behind(after: ListPosition | null): SqlCondition {
  return after === null ? ALWAYS : condition(TIE, after.id, after.holder)
}

function condition(sql: string, ...values: readonly SqlValue[]): SqlCondition {
  return { sql, values }
}

function allOf(conditions: readonly SqlCondition[]): SqlCondition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' and '),
    values: conditions.flatMap(({ values }) => values),
  }
}

function keysOf(db: SqlDatabase, sql: string, values: readonly SqlValue[]): EntryKey[] {
  return db
    .prepareArrays<[number]>(sql)
    .all(...values)
    .map(([key]) => key)
}
