/** Nodes as the store holds them: an entry and its row of NODES. */

import type { JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { isOwner, type Sight } from '../../../model/viewer.ts'
import { FeedFollower } from '../../../pipeline/columns.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { ModeName } from '../mode-names.ts'
import type { Color, NodeMemory, NodeRow, ResultRow } from '../model.ts'
import { NODES } from '../tables.ts'

/** What NODES says of an entry. */
export interface NodeAspect {
  readonly color: Color
  readonly node_id: string
  /** By ascending anchor. */
  readonly hashtags: readonly string[]
  readonly mode_name: ModeName
  readonly decay_enabled: boolean
  readonly has_metadata: boolean
  /** Unix seconds. */
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
  const [l, a, b] = aspect.color
  writer.table(NODES).put({
    entry,
    l,
    a,
    b,
    node_id: aspect.node_id,
    hashtags: JSON.stringify(aspect.hashtags),
    mode_name: aspect.mode_name,
    decay_enabled: aspect.decay_enabled ? 1 : 0,
    has_metadata: aspect.has_metadata ? 1 : 0,
    created_at: aspect.created_at,
    version: aspect.version,
  })
}

/** Those that are there and nodes, in the order asked for. */
export function readNodes(reader: StoreReader, keys: readonly EntryKey[]): readonly StoredNode[] {
  const rows = reader.table(NODES).scan({}, { entries: keys })
  const aspects = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  return reader.entries(keys.filter(key => aspects.has(key))).flatMap(entry => {
    const row = aspects.get(entry.key)
    return row === undefined ? [] : [{ entry, aspect: aspectOf(row) }]
  })
}

/** The visible node of this id: the viewer's own before others', then by holder. */
export function findNode(reader: StoreReader, id: string, sight: Sight): StoredNode | undefined {
  const nodes = readNodes(reader, reader.find(id, sight.partitions))
  return nodes.find(({ entry }) => entry.audience.holder === sight.viewer.id) ?? nodes[0]
}

/** As `findNode`, of those the viewer may change: what is held by others and what is not there are one. */
export function findOwnNode(reader: StoreReader, id: string, sight: Sight): StoredNode | undefined {
  const node = findNode(reader, id, sight)
  if (node === undefined) return undefined
  return isOwner(sight.viewer) || node.entry.audience.holder === sight.viewer.id ? node : undefined
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

/** What only a query knows. */
export interface Computed {
  readonly distance: number
  readonly relevance: number
  readonly recency: number
  readonly strength_norm: number
  readonly score: number
}

/** `columns`: those of plug-ins that are installed, null where unset. */
export function nodeRow(
  { entry, aspect }: StoredNode,
  memory: Omit<NodeMemory, 'version'>,
  columns: JsonObject,
): NodeRow {
  const [color_L, color_a, color_b] = aspect.color
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
    // A store may share its own value, and callers may change what they get.
    metadata: aspect.has_metadata ? structuredClone(entry.metadata) : null,
    created_at: aspect.created_at,
    last_accessed: memory.last_accessed,
    strength_raw: memory.strength_raw,
    decay_health: memory.decay_health,
    ascension: memory.ascension,
    rotten: memory.rotten,
    mode_name: aspect.mode_name,
    access_count: memory.access_count,
    decay_enabled: aspect.decay_enabled,
    state: nodeState(memory),
  }
}

export function resultRow(node: NodeRow, computed: Computed): ResultRow {
  const { distance, relevance, recency, strength_norm, score } = computed
  return { ...node, distance, relevance, recency, strength_norm, score }
}

export function nodeState({ ascension, rotten }: Pick<NodeMemory, 'ascension' | 'rotten'>): NodeRow['state'] {
  if (ascension) return 'ASCENDED'
  return rotten ? 'ROTTEN' : 'ACTIVE'
}

// Nodes read lately, so that what is asked often is read once. Kept by the change feed: a node that was written since, by
// any process, is read again. Holds nothing of anybody's memory.

export interface FullNode extends StoredNode {
  /** Of plug-ins. */
  readonly columns: JsonObject
}

const NODES_KEPT = 5_000
/** Longer contents are not kept, in UTF-16 units: 80 MB at most for all. */
const LONGEST = 8_192
/** With more changes than this, all are forgotten. */
const FEW = 1_000

export class NodeCache {
  readonly #columnsOf: (reader: StoreReader, entry: EntryKey) => JsonObject
  readonly #nodes = new Recent<EntryKey, FullNode>(NODES_KEPT)
  readonly #feed = new FeedFollower({
    clear: () => this.#nodes.clear(),
    take: (_, changed) => {
      for (const entry of changed.keys()) this.#nodes.delete(entry)
    },
    most: () => FEW,
  })

  constructor(columnsOf: (reader: StoreReader, entry: EntryKey) => JsonObject) {
    this.#columnsOf = columnsOf
  }

  /** Those that are there and nodes, in the order asked for. Within one read of the store. */
  read(reader: StoreReader, keys: readonly EntryKey[]): readonly FullNode[] {
    this.#feed.follow(reader)
    const found = new Map<EntryKey, FullNode>()
    for (const key of keys) {
      const known = this.#nodes.find(key)
      if (known !== undefined) found.set(key, known)
    }
    const missing = keys.filter(key => !found.has(key))
    for (const node of missing.length === 0 ? [] : readNodes(reader, missing)) {
      const { key, content } = node.entry
      const full = { ...node, columns: this.#columnsOf(reader, key) }
      found.set(key, full)
      if (content.length <= LONGEST) this.#nodes.set(key, full)
    }
    return keys.flatMap(key => found.get(key) ?? [])
  }
}
