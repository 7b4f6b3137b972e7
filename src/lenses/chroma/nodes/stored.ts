/** Reads nodes from the store. A node is an entry and its row in the table NODES. */

import { Bitset } from '../../../base/bitset.ts'
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import { isRecord } from '../../../base/record.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { type AccessScope, isOwner } from '../../../model/viewer.ts'
import { FeedFollower, RecentOfEntries, ValueColumn } from '../../../pipeline/columns.ts'
import { aroundDamage, tablePages } from '../../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { NodePlace } from '../colour/coordinates.ts'
import type { ModeName } from '../memory/formulas.ts'
import type { Condition, ConditionOperators, MetadataFilters, NodeMemory, NodeRow, Scalar } from '../model.ts'
import { NODES } from '../tables.ts'

/** A row of the table NODES: the fields that make an entry a node. */
export interface NodeAspect extends NodePlace {
  readonly mode_name: ModeName
  readonly decay_enabled: boolean
  readonly has_metadata: boolean
  /** Creation time of the node in Unix seconds. */
  readonly created_at: number
  readonly version: number
}

export interface StoredNode {
  readonly entry: Entry
  readonly aspect: NodeAspect
}

export function readAspect(reader: StoreReader, entry: EntryKey): NodeAspect | undefined {
  const row = reader.table(NODES).get({ entry })
  return row && aspectOf(row)
}

export function writeAspect(writer: StoreWriter, entry: EntryKey, aspect: NodeAspect): void {
  const { color, hashtags, decay_enabled, has_metadata, ...others } = aspect
  const [l, a, b] = color
  writer.table(NODES).put({
    ...{ entry, l, a, b, ...others },
    hashtags: JSON.stringify(hashtags),
    decay_enabled: Number(decay_enabled),
    has_metadata: Number(has_metadata),
  })
}

/** The nodes with these entry keys, in the order of the keys; a key without a node is left out. */
export function readNodes(reader: StoreReader, keys: readonly EntryKey[]): readonly StoredNode[] {
  const rows = reader.table(NODES).scan({}, { entries: keys })
  const aspects = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  return reader.entries(keys.filter(key => aspects.has(key))).flatMap(entry => {
    const row = aspects.get(entry.key)
    return row === undefined ? [] : [{ entry, aspect: aspectOf(row) }]
  })
}

/**
 * The visible node (stored note) of this id; undefined when there is none. Different holders may have nodes with one id: the viewer's own
 * node is preferred, then the node of the first other holder in order.
 */
export function findNode(reader: StoreReader, id: string, accessScope: AccessScope): StoredNode | undefined {
  const nodes = readNodes(reader, reader.find(id, accessScope.partitions))
  return nodes.find(({ entry }) => entry.audience.holder === accessScope.viewer.id) ?? nodes[0]
}

/** The visible node of this id if the viewer may change it; undefined for a node that others hold and for a missing one. */
export function findOwnNode(reader: StoreReader, id: string, accessScope: AccessScope): StoredNode | undefined {
  const node = findNode(reader, id, accessScope)
  if (node === undefined) return undefined
  return isOwner(accessScope.viewer) || node.entry.audience.holder === accessScope.viewer.id ? node : undefined
}

function aspectOf(row: Row): NodeAspect {
  return {
    color: [row['l'] as number, row['a'] as number, row['b'] as number],
    node_id: row['node_id'] as string,
    hashtags: JSON.parse(row['hashtags'] as string) as string[],
    mode_name: row['mode_name'] as ModeName,
    decay_enabled: row['decay_enabled'] === 1,
    has_metadata: row['has_metadata'] === 1,
    created_at: row['created_at'] as number,
    version: row['version'] as number,
  }
}

/** Makes the result row of a node with a viewer's memory of it. `columns`: values of the installed plug-ins' columns, null where unset. */
export function nodeRow(
  { entry, aspect }: StoredNode,
  memory: Omit<NodeMemory, 'version'>,
  columns: JsonObject,
): NodeRow {
  const [color_L, color_a, color_b] = aspect.color
  const { last_accessed, strength_raw, decay_health, ascension, rotten, access_count } = memory
  return {
    ...columns,
    entry_id: entry.id,
    node_id: aspect.node_id,
    color_L,
    color_a,
    color_b,
    hashtags: [...aspect.hashtags],
    label: entry.title,
    content: entry.content,
    // The metadata is copied, because the store may return its own object, and the caller may change the object in the row.
    metadata: aspect.has_metadata ? copyOf(entry.metadata) : null,
    created_at: aspect.created_at,
    ...{ last_accessed, strength_raw, decay_health, ascension, rotten },
    mode_name: aspect.mode_name,
    access_count,
    decay_enabled: aspect.decay_enabled,
    state: nodeState(memory),
  }
}

/** Makes a deep copy of JSON data; several times faster than `structuredClone`. */
function copyOf<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf) as Json as T
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)])) as Json as T
}

export function nodeState({ ascension, rotten }: Pick<NodeMemory, 'ascension' | 'rotten'>): NodeRow['state'] {
  if (ascension) return 'ASCENDED'
  return rotten ? 'ROTTEN' : 'ACTIVE'
}

export interface FullNode extends StoredNode {
  /** Values of the plug-in columns of a node, by name of the column. */
  readonly columns: JsonObject
}

const NODES_KEPT = 5_000
/** Longest content, in UTF-16 units, that a cached node may have; limits the cache to about 80 MB. */
const LONGEST = 8_192

/** Cache of nodes (stored notes) by entry key. It holds nothing of any viewer's memory, so all viewers share it. */
export type Nodes = RecentOfEntries<FullNode>

export function nodesOf(columnsOf: ReadColumns): Nodes {
  return new RecentOfEntries(
    NODES_KEPT,
    (reader, keys) => readNodes(reader, keys).map(node => ({ ...node, columns: columnsOf(reader, node.entry.key) })),
    ({ entry }) => entry.key,
    ({ entry }) => entry.content.length <= LONGEST,
  )
}

// Values of the metadata fields that queries filter by, in columns by entry key. A field is read from all nodes when a query first filters
// by it. The set of nodes that pass a filter is cached until a node is added, changed or deleted; time and use cannot change which nodes
// pass.

/**
 * Number of cached fields and of cached filter results. At a million nodes, a field takes 4 MB (and its distinct values), a filter result
 * 125 kB.
 */
const FIELDS = 32
const SETS = 64
/** Number of nodes that are read before the work pauses for other work. */
const PAGE = 1_000
/** When more nodes than this have changed, the cached field values are dropped, and read again when a query needs them. */
const MAX_CHANGED = 5_000

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
    most: () => MAX_CHANGED,
  })

  /**
   * Makes the cache of field values. `columnsOf`: function that reads the values of the plug-in columns (fields added by plug-ins) of an
   * entry.
   */
  constructor(columnsOf: ReadColumns) {
    this.#columnsOf = columnsOf
  }

  /** The set of nodes that satisfy all conditions, visible to the viewer or not. The set is cached, so the caller must not change it. */
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

/**
 * Conditions on metadata fields and plug-in columns of nodes (CQ-016, CQ-058 to CQ-064). A condition is applied to the whole value, which
 * may be a scalar, list or object, or undefined where the field is missing.
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

/** Makes a test function from a condition, which must already be checked. */
export function testOf(condition: Condition): FieldTest {
  if (isRecord(condition)) return operatorsTest(condition)
  if (Array.isArray(condition)) return operatorsTest({ $in: condition as readonly Scalar[] })
  return operatorsTest({ $eq: condition as Scalar })
}

/**
 * Value of the field that a filter names (CQ-058): the plug-in column of this name where it is set, else the metadata key of this name,
 * else the name as a dotted path into the metadata.
 */
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

/** A test that is true for exactly the values that the operator `$ne` or `$nin` excludes. */
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

/**
 * A text in lower case and in Unicode composed form. Both sides of a comparison are folded, so that case and composition make no
 * difference.
 */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
