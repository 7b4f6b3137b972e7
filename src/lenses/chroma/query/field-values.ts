/**
 * The values of the metadata fields that queries filter by, as columns by entry key: an entry has the number of its value,
 * and a condition is tried once a distinct value. A field is read from all nodes when it is first asked for, then kept in
 * step by the change feed. What passes is remembered until something changes: never what depends on time or on use.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { aroundDamage } from '../../../pipeline/around-damage.ts'
import { entriesChangedAfter } from '../../../pipeline/feed.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Condition, MetadataFilters } from '../model.ts'
import { NODES } from '../tables.ts'
import { fieldValue, testOf } from './metadata-filter.ts'

/** Fields and sets that are kept: at a million nodes 4 MB (and its distinct values) a field, 125 kB a set. */
const FIELDS = 32
const SETS = 64
/** Nodes read at once. */
const PAGE = 1_000
/** With more changes than this, all is read anew when asked for. */
const FEW = 5_000

export type ReadColumns = (reader: StoreReader, entry: EntryKey) => JsonObject

export class FieldValues {
  readonly #columnsOf: ReadColumns
  /** In the order of use, oldest first. */
  readonly #fields = new Map<string, FieldColumn>()
  readonly #sets = new Recent<string, Bitset>(SETS)
  #position = -1

  /** `columnsOf`: what plug-ins keep of an entry. */
  constructor(columnsOf: ReadColumns) {
    this.#columnsOf = columnsOf
  }

  /** Nodes that fulfil all conditions, whoever may see them. Not to be changed. */
  passing(reader: StoreReader, filters: MetadataFilters): Bitset {
    this.#follow(reader)
    return this.#sets.get(JSON.stringify(filters), () => this.#make(reader, filters))
  }

  #make(reader: StoreReader, filters: MetadataFilters): Bitset {
    let all: Bitset | null = null
    for (const [field, condition] of Object.entries(filters)) {
      const passing = this.#column(reader, field).passing(condition)
      all = all === null ? passing : all.and(passing)
    }
    return all ?? new Bitset()
  }

  #column(reader: StoreReader, field: string): FieldColumn {
    const column = this.#fields.get(field) ?? this.#readAll(reader, field)
    this.#fields.delete(field)
    this.#fields.set(field, column)
    if (this.#fields.size > FIELDS) this.#fields.delete(this.#fields.keys().next().value as string)
    return column
  }

  #readAll(reader: StoreReader, field: string): FieldColumn {
    const column = new FieldColumn(field)
    for (let after: EntryKey = -1; ; ) {
      const keys = reader.scanEntries(after, PAGE)
      aroundDamage(reader, () => this.#read(reader, keys, [column]))
      if (keys.length < PAGE) return column
      after = keys.at(-1) as EntryKey
    }
  }

  #follow(reader: StoreReader): void {
    const last = reader.lastSeq()
    if (last === this.#position) return
    const changed = this.#changed(reader)
    this.#sets.clear()
    if (changed === null) this.#fields.clear()
    else this.#renew(reader, changed)
    this.#position = last
  }

  #renew(reader: StoreReader, changed: readonly EntryKey[]): void {
    const columns = [...this.#fields.values()]
    for (const column of columns) for (const key of changed) column.delete(key)
    aroundDamage(reader, () => this.#read(reader, changed, columns))
  }

  /** Null: too many, or the feed no longer tells. */
  #changed(reader: StoreReader): readonly EntryKey[] | null {
    if (this.#fields.size === 0) return null
    const news = entriesChangedAfter(reader, this.#position, FEW)
    return news === null ? null : [...news.entries]
  }

  #read(reader: StoreReader, keys: readonly EntryKey[], columns: readonly FieldColumn[]): void {
    const rows = reader.table(NODES).scan({}, { entries: keys, columns: ['entry', 'has_metadata'] })
    const hasMetadata = new Map(rows.map(row => [row['entry'] as EntryKey, row['has_metadata'] === 1]))
    for (const { key, metadata } of reader.metadata([...hasMetadata.keys()])) {
      const added = this.#columnsOf(reader, key)
      const own = hasMetadata.get(key) ? metadata : null
      for (const column of columns) column.set(key, fieldValue(column.field, own, added))
    }
  }
}

/** Number of a node whose field is missing; 0 is no node. */
const MISSING = 1

class FieldColumn {
  readonly field: string
  #numbers = new Uint32Array(1024)
  readonly #values: (Json | undefined)[] = [undefined, undefined]
  readonly #numberOf = new Map<string, number>()

  constructor(field: string) {
    this.field = field
  }

  set(entry: EntryKey, value: Json | undefined): void {
    if (entry >= this.#numbers.length) this.#grow(entry + 1)
    this.#numbers[entry] = value === undefined ? MISSING : this.#number(value)
  }

  delete(entry: EntryKey): void {
    if (entry < this.#numbers.length) this.#numbers[entry] = 0
  }

  passing(condition: Condition): Bitset {
    const test = testOf(condition)
    const passes = this.#values.map((value, number) => number > 0 && test(value))
    const set = new Bitset(this.#numbers.length)
    for (let entry = 0; entry < this.#numbers.length; entry++) {
      if (passes[this.#numbers[entry] as number]) set.add(entry)
    }
    return set
  }

  #number(value: Json): number {
    const text = JSON.stringify(value)
    const known = this.#numberOf.get(text)
    if (known !== undefined) return known
    this.#numberOf.set(text, this.#values.length)
    return this.#values.push(value) - 1
  }

  #grow(least: number): void {
    const grown = new Uint32Array(Math.max(least, this.#numbers.length * 2))
    grown.set(this.#numbers)
    this.#numbers = grown
  }
}
