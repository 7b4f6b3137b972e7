/** Nodes as the store holds them: an entry and its row of NODES. */
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { isOwner, type Sight } from '../../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { ModeName } from '../mode-names.ts'
import type { Color } from '../model.ts'
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
