/** Questions over many entries at once: which match, in which order, how many. */
import { Bitset } from '../../base/bitset.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Filter } from '../../model/filter.ts'
import type { Sight } from '../../model/viewer.ts'
import { checkFilter } from '../check.ts'
import type { ListRequest } from '../store.ts'
import { type AspectLookup, compileFilter, type SqlCondition } from './filter.ts'
import { listKeys } from './list.ts'
import type { SqlitePartitions } from './partitions.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { keyList, limitOf } from './values.ts'

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
      const of = { seen: this.#seen(sight, filter), isUnfiltered: filter === null, viewer: sight.viewer }
      return listKeys(this.#db, of, { order, limit: limitOf(limit), after })
    })
  }

  /** `example`: an entry that has the value, by which the caller can check it. */
  facet(
    sight: Sight,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { readonly value: string; readonly count: number; readonly example: EntryKey }[] {
    return this.#db.read(() => {
      const { sql, values } = this.#visible(sight)
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
