/**
 * The values of the metadata fields that queries filter by, as columns by entry key. A field is read from all nodes when it is
 * first asked for. What passes is remembered until something changes: never what depends on time or on use.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { aroundDamage } from '../../../pipeline/around-damage.ts'
import { FeedFollower, ValueColumn } from '../../../pipeline/columns.ts'
import { tablePages } from '../../../pipeline/table-pages.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { MetadataFilters } from '../model.ts'
import { NODES } from '../tables.ts'
import { fieldValue, testOf } from './metadata-filter.ts'

/** Fields and sets that are kept: at a million nodes 4 MB (and its distinct values) a field, 125 kB a set. */
const FIELDS = 32
const SETS = 64
/** Nodes read at once. */
const PAGE = 1_000
/** With more changes than this, all is read again when asked for. */
const FEW = 5_000

export type ReadColumns = (reader: StoreReader, entry: EntryKey) => JsonObject

export class FieldValues {
  readonly #columnsOf: ReadColumns
  readonly #fields = new Recent<string, ValueColumn>(FIELDS)
  readonly #sets = new Recent<string, Bitset>(SETS)
  readonly #feed = new FeedFollower({
    clear: () => {
      this.#fields.clear()
      this.#sets.clear()
    },
    take: (reader, changed) => {
      this.#sets.clear()
      const columns = this.#fields.entries()
      for (const [, column] of columns) for (const key of changed.keys()) column.delete(key)
      if (columns.length === 0) return
      const page = { entries: [...changed.keys()], columns: ['entry', 'has_metadata'] }
      this.#read(reader, reader.table(NODES).scan({}, page), columns)
    },
    most: () => FEW,
  })

  /** `columnsOf`: what plug-ins keep of an entry. */
  constructor(columnsOf: ReadColumns) {
    this.#columnsOf = columnsOf
  }

  /** Nodes that fulfil all conditions, whoever may see them. Not to be changed. */
  passing(reader: StoreReader, filters: MetadataFilters): Bitset {
    this.#feed.follow(reader)
    return this.#sets.get(JSON.stringify(filters), () => this.#make(reader, filters))
  }

  #make(reader: StoreReader, filters: MetadataFilters): Bitset {
    let all: Bitset | null = null
    for (const [field, condition] of Object.entries(filters)) {
      const passing = this.#column(reader, field).where(testOf(condition))
      all = all === null ? passing : all.and(passing)
    }
    return all ?? new Bitset()
  }

  #column(reader: StoreReader, field: string): ValueColumn {
    return this.#fields.get(field, () => {
      const column = new ValueColumn()
      aroundDamage(reader, () => {
        for (const rows of tablePages(reader, NODES, ['has_metadata'], PAGE))
          this.#read(reader, rows, [[field, column]])
      })
      return column
    })
  }

  #read(reader: StoreReader, rows: readonly Row[], columns: readonly (readonly [string, ValueColumn])[]): void {
    const hasMetadata = new Map(rows.map(row => [row['entry'] as EntryKey, row['has_metadata'] === 1]))
    for (const { key, metadata } of reader.metadata([...hasMetadata.keys()])) {
      const added = this.#columnsOf(reader, key)
      const own = hasMetadata.get(key) ? metadata : null
      for (const [field, column] of columns) column.set(key, fieldValue(field, own, added))
    }
  }
}
