/** Nodes as callers see them (CQ-074 to CQ-077): plain JSON, a copy, under the seed's names. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { NodeMemory, NodeRow, ResultRow } from '../model.ts'
import type { StoredNode } from './stored.ts'

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
