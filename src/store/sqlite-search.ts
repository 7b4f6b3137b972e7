/** Questions over many entries at once: which match, in which order, how many. */
import { Bitset } from '../base/bitset.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import type { Sight } from '../model/viewer.ts'
import { checkFilter } from './check.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { type AspectLookup, compileFilter, type SqlCondition } from './sqlite-filter.ts'
import { keyList, limitOf } from './sqlite-values.ts'
import type { ListPosition, ListRequest } from './store.ts'

export class SqliteSearch {
  readonly #db: SqlDatabase
  readonly #aspect: AspectLookup

  constructor(db: SqlDatabase, aspect: AspectLookup) {
    this.#db = db
    this.#aspect = aspect
  }

  matching(sight: Sight, filter: Filter): Bitset {
    const { sql, values } = this.#seen(sight, filter)
    const found = new Bitset()
    for (const [key] of this.#rows<[number]>(`select e.key from entries e where ${sql}`, values)) found.add(key)
    return found
  }

  count(sight: Sight, filter: Filter | null): number {
    const { sql, values } = this.#seen(sight, filter)
    return this.#rows<[number]>(`select count(*) from entries e where ${sql}`, values)[0]?.[0] ?? 0
  }

  list({ sight, filter, order, limit, after }: ListRequest): readonly EntryKey[] {
    const seen = this.#seen(sight, filter)
    const behind = after === null ? { sql: '1', values: [] } : behindPlace(order, after)
    const access = order === 'accessed' ? 'left join access a on a.viewer = ? and a.entry = e.key' : ''
    const sql = `select e.key from entries e ${access} where ${seen.sql} and ${behind.sql}
      order by ${ORDERS[order]} e.id, e.holder limit ?`
    const viewer = order === 'accessed' ? [sight.viewer.id] : []
    const values = [...viewer, ...seen.values, ...behind.values, limitOf(limit)]
    return this.#rows<[number]>(sql, values).map(([key]) => key)
  }

  facet(
    sight: Sight,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { readonly value: string; readonly count: number }[] {
    const seen = this.#seen(sight, null)
    const [column, join] = field === 'tag' ? ['t.tag', 'join entry_tags t on t.entry = e.key'] : [`e.${field}`, '']
    const sql = `select ${column}, count(*) from entries e ${join} where ${seen.sql}
      group by 1 order by 2 desc, 1 limit ?`
    const rows = this.#rows<[string, number]>(sql, [...seen.values, limitOf(limit)])
    return rows.map(([value, count]) => ({ value, count }))
  }

  #seen(sight: Sight, filter: Filter | null): SqlCondition {
    const visible = 'e.partition in (select value from json_each(?))'
    const values = [keyList(sight.partitions)]
    if (filter === null) return { sql: visible, values }
    checkFilter(filter)
    const condition = compileFilter(filter, sight.viewer, this.#aspect)
    return { sql: `${visible} and ${condition.sql}`, values: [...values, ...condition.values] }
  }

  #rows<Row extends readonly SqlValue[]>(sql: string, values: readonly SqlValue[]): readonly Row[] {
    return this.#db.prepareArrays<Row>(sql).all(...values)
  }
}

/** NULL comes last when descending. */
const ORDERS = {
  created: 'e.created_at desc,',
  updated: 'e.updated_at desc,',
  accessed: 'a.last_accessed desc,',
  id: '',
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
