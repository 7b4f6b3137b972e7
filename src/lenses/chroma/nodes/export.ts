/** The nodes that a viewer holds as a document (CQ-128), with the viewer's memory of them. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import { defaultMemory, readMemory } from '../memory/memory-rows.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { readNodes, type StoredNode } from './stored.ts'

export const DOCUMENT_VERSION = 1

/** Nodes read at once. */
const PAGE = 1_000

export interface ExportedNode extends JsonObject {
  readonly entry_id: string
  readonly node_id: string
  readonly color: readonly number[]
  readonly hashtags: readonly string[]
  readonly label: string
  readonly content: string
  readonly metadata: JsonObject | null
  readonly created_at: number
  readonly last_accessed: number
  readonly strength_raw: number
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  readonly mode_name: string
  readonly access_count: number
  readonly decay_enabled: boolean
  readonly version: number
  /** Up to when strength has been decayed; 0: never. */
  readonly decayed_at: number
  readonly plugin_fields: JsonObject
}

export interface NodeDocument {
  readonly version: number
  /** Unix seconds. */
  readonly exported_at: number
  /** By entry id. */
  readonly nodes: readonly ExportedNode[]
  /** Of the hashtags that the nodes carry: the number of the anchor each lies on. */
  readonly bindings: Readonly<Record<string, number>>
}

export function exportNodes(state: ChromaState, viewer: Viewer): NodeDocument {
  const { host, access } = state
  access.flush()
  const nodes = host.store.read(reader => {
    const keys = [...reader.matching(host.sight(viewer), { op: 'eq', field: 'holder', value: viewer.id })]
    const found: ExportedNode[] = []
    for (let at = 0; at < keys.length; at += PAGE) {
      for (const node of readNodes(reader, keys.slice(at, at + PAGE))) found.push(exported(state, reader, viewer, node))
    }
    return found
  })
  nodes.sort((a, b) => (a.entry_id < b.entry_id ? -1 : 1))
  const carried = new Set(nodes.flatMap(node => node.hashtags))
  const lying = state.bindings.list().filter(({ hashtag }) => carried.has(hashtag))
  const bindings = Object.fromEntries(lying.map(({ hashtag, anchor_id }) => [hashtag, anchor_id]))
  return { version: DOCUMENT_VERSION, exported_at: secondsNow(host), nodes, bindings }
}

function exported({ extensions }: ChromaState, reader: StoreReader, viewer: Viewer, node: StoredNode): ExportedNode {
  const { entry, aspect } = node
  const memory = readMemory(reader, viewer.id, entry.key) ?? defaultMemory(aspect.created_at)
  return {
    entry_id: entry.id,
    node_id: aspect.node_id,
    color: [...aspect.color],
    hashtags: [...aspect.hashtags],
    label: entry.title,
    content: entry.content,
    metadata: aspect.has_metadata ? entry.metadata : null,
    created_at: aspect.created_at,
    last_accessed: memory.last_accessed,
    strength_raw: memory.strength_raw,
    decay_health: memory.decay_health,
    ascension: memory.ascension,
    rotten: memory.rotten,
    mode_name: aspect.mode_name,
    access_count: memory.access_count,
    decay_enabled: aspect.decay_enabled,
    version: aspect.version + memory.version,
    decayed_at: memory.decayed_at,
    plugin_fields: extensions.read(reader, entry.key),
  }
}
