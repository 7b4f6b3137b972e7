/**
 * The values of the metadata fields that queries filter by, as columns by entry key: an entry has the number of its value,
 * and a condition is tried once a distinct value. A field is read from all nodes when it is first asked for, then kept in
 * step by the change feed. What passes is remembered until something changes: never what depends on time or on use.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import { isRecord } from '../../../base/record.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { aroundDamage } from '../../../pipeline/around-damage.ts'
import { entriesChangedAfter } from '../../../pipeline/feed.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Condition, ConditionOperators, MetadataFilters, Scalar } from '../model.ts'
import { NODES } from '../tables.ts'

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

/**
 * Conditions on metadata and on columns of plug-ins (CQ-016, CQ-058 to CQ-064). A value is looked at whole: scalar, list
 * or object, or undefined where the field is missing.
 */
export type FieldTest = (value: Json | undefined) => boolean

type Operator = keyof ConditionOperators
type Test = (value: Json) => boolean

const COMPARE: Readonly<Record<'$gt' | '$gte' | '$lt' | '$lte', (a: number | string, b: number | string) => boolean>> =
  {
    $gt: (a, b) => a > b,
    $gte: (a, b) => a >= b,
    $lt: (a, b) => a < b,
    $lte: (a, b) => a <= b,
  }

/** The condition as a function; it was checked before. */
export function testOf(condition: Condition): FieldTest {
  if (isRecord(condition)) return operatorsTest(condition)
  if (Array.isArray(condition)) return operatorsTest({ $in: condition as readonly Scalar[] })
  return operatorsTest({ $eq: condition as Scalar })
}

/** CQ-058: a plug-in's column that is set, else a key of the metadata, else a dotted path into it. */
export function fieldValue(field: string, metadata: JsonObject | null, columns: JsonObject): Json | undefined {
  const column = Object.hasOwn(columns, field) ? columns[field] : null
  if (column !== null && column !== undefined) return column
  if (metadata === null) return undefined
  if (Object.hasOwn(metadata, field)) return metadata[field]
  return field.includes('.') ? valueAt(metadata, field.split('.')) : undefined
}

function operatorsTest(operators: ConditionOperators): FieldTest {
  const given = (Object.keys(operators) as Operator[]).filter(operator => operators[operator] !== undefined)
  const positive = given.filter(operator => operator !== '$ne' && operator !== '$nin' && operator !== '$exists')
  const negative = given.filter(operator => operator === '$ne' || operator === '$nin')
  const wanted = positive.map(operator => positiveTest(operator, operators))
  const unwanted = negative.map(operator => unwantedTest(operator, operators))
  const { $exists: exists } = operators
  return value => {
    const present = value ?? null
    if (exists !== undefined && exists !== (present !== null)) return false
    const elements: readonly Json[] = Array.isArray(present) ? (present as readonly Json[]) : [present]
    if (elements.some(element => unwanted.some(test => test(element)))) return false
    return wanted.length === 0 || elements.some(element => wanted.every(test => test(element)))
  }
}

function positiveTest(operator: Operator, operators: ConditionOperators): Test {
  switch (operator) {
    case '$eq':
      return value => value === operators.$eq
    case '$in':
      return memberOf(operators.$in as readonly Scalar[])
    case '$contains': {
      const part = fold(operators.$contains as string)
      return value => typeof value === 'string' && fold(value).includes(part)
    }
    default: {
      const compare = COMPARE[operator as keyof typeof COMPARE]
      const bound = operators[operator] as number | string
      return value => typeof value === typeof bound && compare(value as number | string, bound)
    }
  }
}

/** True of the values that `$ne` or `$nin` shuts out. */
function unwantedTest(operator: Operator, operators: ConditionOperators): Test {
  return operator === '$ne' ? value => value === operators.$ne : memberOf(operators.$nin as readonly Scalar[])
}

function memberOf(members: readonly Scalar[]): Test {
  const set: ReadonlySet<unknown> = new Set(members)
  return value => set.has(value)
}

function valueAt(metadata: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = metadata
  for (const step of path) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined
    value = (value as JsonObject)[step]
  }
  return value
}

/** Equal texts of any case are equal after this; the same rule on both sides. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
