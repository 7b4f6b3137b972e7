/** Questions over many entries at once: which match, in which order, how many; and lists of them by page. */
import { Bitset } from '../../base/bitset.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Filter } from '../../model/filter.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import { checkFilter } from '../check.ts'
import type { ListPosition, ListRequest } from '../store.ts'
import { type AspectLookup, compileFilter, type SqlCondition } from './filter.ts'
import { keyList, limitOf } from './rows.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import type { SqlitePartitions } from './tallies.ts'

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
      // One text of all keys: half the time of a row each.
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

  /** `example`: an entry that has the value, by which the caller can check it. */
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

  /** Visible collections by name, each with an entry of it. Steps along an index: the cost grows with names times partitions, not with entries. */
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

  /** No condition at all for who sees everything: the owner, mostly. */
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

// Lists in SQLite by place, one page each. Where very many entries are of one time (an import), or almost none was ever
// accessed, sorting them all to show ten would take half a second of a million: such pages are read along an index.

/** Entries of one time that are sorted; of more, the index by id finds a page's sooner. */
const MAX_SORTED = 1_000

/** What a list is of: entries that fulfil a condition. */
interface ListedEntries {
  readonly seen: SqlCondition
  /** Then an index is best named; else SQLite knows better where to begin. */
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

/** Newest first. */
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

/** The time that the next entries reach, when very many are of it; else null. */
function tiedTimeWithin(db: SqlDatabase, of: ListedEntries, column: TimeColumn, { left, limit }: Rest): number | null {
  if (!of.isUnfiltered || limit === 0) return null
  const where = allOf([of.seen, left])
  const times = `select e.${column} as time from entries e ${INDEXES[column]}
    where ${where.sql} order by e.${column} desc limit ?`
  const last = db.prepareArrays<[number | null]>(`select min(time) from (${times})`).get(...where.values, limit)?.[0]
  return last === null || last === undefined ? null : tiedTimeAt(db, of, column, last)
}

/** This time when very many are of it; else null. */
function tiedTimeAt(db: SqlDatabase, of: ListedEntries, column: TimeColumn, time: number): number | null {
  if (!of.isUnfiltered) return null
  const some = `select 1 from entries e ${INDEXES[column]} where ${of.seen.sql} and e.${column} = ? limit ${MAX_SORTED + 1}`
  const count = db.prepareArrays<[number]>(`select count(*) from (${some})`).get(...of.seen.values, time)?.[0] ?? 0
  return count > MAX_SORTED ? time : null
}

/** What this viewer used, last first; then what it never did, by id. */
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
const ALWAYS: SqlCondition = { sql: '1', values: [] }

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
