/** Questions over many entries at once: which match, in which order, how many. */
import { Bitset } from '../base/bitset.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import type { Sight } from '../model/viewer.ts'
import { checkFilter } from './check.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { type AspectLookup, compileFilter, type SqlCondition } from './sqlite-filter.ts'
import type { SqlitePartitions } from './sqlite-partitions.ts'
import { keyList, limitOf } from './sqlite-values.ts'
import type { ListPosition, ListRequest } from './store.ts'

export class SqliteSearch {
  readonly #db: SqlDatabase
  readonly #partitions: SqlitePartitions
  readonly #aspect: AspectLookup

  constructor(db: SqlDatabase, partitions: SqlitePartitions, aspect: AspectLookup) {
    this.#db = db
    this.#partitions = partitions
    this.#aspect = aspect
  }

  matching(sight: Sight, filter: Filter): Bitset {
    return this.#db.read(() => {
      const { sql, values } = this.#seen(sight, filter)
      // One text of all keys: half the time of a row each.
      const keys = this.#rows<[string]>(`select json_group_array(e.key) from entries e where ${sql}`, values)
      return Bitset.of(JSON.parse(keys[0]?.[0] ?? '[]') as EntryKey[])
    })
  }

  count(sight: Sight, filter: Filter | null): number {
    return this.#db.read(() => {
      const { sql, values } = this.#seen(sight, filter)
      return this.#rows<[number]>(`select count(*) from entries e where ${sql}`, values)[0]?.[0] ?? 0
    })
  }

  list({ sight, filter, order, limit, after }: ListRequest): readonly EntryKey[] {
    return this.#db.read(() => {
      const seen = this.#seen(sight, filter)
      const behind = after === null ? EVERYTHING : behindPlace(order, after)
      const { index, join, by } = ORDERS[order]
      // Without a filter, walking in order finds the page soonest; with one, SQLite is left to choose.
      const sql = `select e.key from entries e ${filter === null ? index : ''} ${join}
        where ${seen.sql} and ${behind.sql} order by ${by} e.id, e.holder limit ?`
      const viewer = order === 'accessed' ? [sight.viewer.id] : []
      const values = [...viewer, ...seen.values, ...behind.values, limitOf(limit)]
      return this.#rows<[number]>(sql, values).map(([key]) => key)
    })
  }

  facet(
    sight: Sight,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { readonly value: string; readonly count: number }[] {
    return this.#db.read(() => {
      const { sql, values } = this.#visible(sight)
      const of = {
        collection: 'e.collection, count(*) from entries e',
        kind: 'e.kind, count(*) from entries e',
        tag: `t.tag, count(*) from entry_tags t ${sql === EVERYTHING.sql ? '' : 'join entries e on e.key = t.entry'}`,
      }[field]
      const rows = this.#rows<[string, number]>(`select ${of} where ${sql} group by 1 order by 2 desc, 1 limit ?`, [
        ...values,
        limitOf(limit),
      ])
      return rows.map(([value, count]) => ({ value, count }))
    })
  }

  #seen(sight: Sight, filter: Filter | null): SqlCondition {
    const visible = this.#visible(sight)
    if (filter === null) return visible
    checkFilter(filter)
    const condition = compileFilter(filter, sight.viewer, this.#aspect)
    return { sql: `${visible.sql} and ${condition.sql}`, values: [...visible.values, ...condition.values] }
  }

  /** No condition at all for who sees everything: the owner, mostly. */
  #visible(sight: Sight): SqlCondition {
    const all = this.#partitions.all()
    const seesAll = all.length === sight.partitions.length && all.every(({ id }, at) => id === sight.partitions[at])
    if (seesAll) return EVERYTHING
    return { sql: 'e.partition in (select value from json_each(?))', values: [keyList(sight.partitions)] }
  }

  #rows<Row extends readonly SqlValue[]>(sql: string, values: readonly SqlValue[]): readonly Row[] {
    return this.#db.prepareArrays<Row>(sql).all(...values)
  }
}

const EVERYTHING: SqlCondition = { sql: '1', values: [] }

/** NULL comes last when descending. */
const ORDERS = {
  created: { index: 'indexed by entries_by_created', join: '', by: 'e.created_at desc,' },
  updated: { index: 'indexed by entries_by_updated', join: '', by: 'e.updated_at desc,' },
  accessed: {
    index: '',
    join: 'left join access a on a.viewer = ? and a.entry = e.key',
    by: 'a.last_accessed desc,',
  },
  id: { index: 'indexed by entries_by_id', join: '', by: '' },
} as const

function behindPlace(order: ListRequest['order'], { at, id, holder }: ListPosition): SqlCondition {
  const tie = '(e.id, e.holder) > (?, ?)'
  switch (order) {
    case 'id':
      return { sql: tie, values: [id, holder] }
    case 'created':
    case 'updated': {
      const time = `e.${order}_at`
      return { sql: `${time} <= ? and (${time} < ? or ${tie})`, values: [at, at, id, holder] }
    }
    case 'accessed':
      if (at === null) return { sql: `a.last_accessed is null and ${tie}`, values: [id, holder] }
      return {
        sql: `(a.last_accessed is null or a.last_accessed < ? or (a.last_accessed = ? and ${tie}))`,
        values: [at, at, id, holder],
      }
  }
}
