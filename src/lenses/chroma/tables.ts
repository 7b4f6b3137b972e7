/** What the lens keeps in the store. Deleting an entry takes its rows along. Times are Unix seconds. */
import type { TableDeclaration } from '../../model/table.ts'

/** The aspect that makes an entry a node: its colour and what never changes with use. */
export const NODES: TableDeclaration = {
  name: 'chroma_nodes',
  aspect: 'color',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'l', type: 'real' },
    { name: 'a', type: 'real' },
    { name: 'b', type: 'real' },
    { name: 'node_id', type: 'text' },
    /** JSON array, by ascending anchor. */
    { name: 'hashtags', type: 'text' },
    { name: 'mode_name', type: 'text' },
    { name: 'decay_enabled', type: 'integer' },
    /** 0: the node was stored with metadata null. */
    { name: 'has_metadata', type: 'integer' },
    { name: 'created_at', type: 'integer' },
    /** Changes of what all viewers share: text, metadata, mode, colour. */
    { name: 'version', type: 'integer' },
  ],
}

/** Which hashtag sits on which anchor: known to all viewers. */
export const HASHTAGS: TableDeclaration = {
  name: 'chroma_hashtags',
  key: ['anchor'],
  columns: [
    { name: 'anchor', type: 'integer' },
    { name: 'hashtag', type: 'text' },
  ],
  indexes: [['hashtag']],
}

/** A node's memory for one viewer. No row: never used, as it was when stored. */
export const MEMORY: TableDeclaration = {
  name: 'chroma_memory',
  ofEntry: true,
  countedFor: null,
  key: ['viewer', 'entry'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'entry', type: 'integer' },
    { name: 'last_accessed', type: 'integer' },
    { name: 'access_count', type: 'integer' },
    { name: 'strength_raw', type: 'real' },
    { name: 'decay_health', type: 'real' },
    { name: 'ascension', type: 'integer' },
    { name: 'rotten', type: 'integer' },
    /** Up to when strength has been decayed; 0: never. */
    { name: 'decayed_at', type: 'integer' },
    { name: 'version', type: 'integer' },
  ],
}

/** The end of each viewer's last decay cycle, also of those that were skipped (CQ-138). */
export const CYCLES: TableDeclaration = {
  name: 'chroma_cycles',
  key: ['viewer'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'at', type: 'integer' },
  ],
}

/**
 * Which memories changed, so that every process on the store can follow without reading them all: numbered by viewer;
 * entries as a JSON array, null for "read all again".
 */
export const USES: TableDeclaration = {
  name: 'chroma_uses',
  key: ['viewer', 'seq'],
  mechanical: true,
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'seq', type: 'integer' },
    { name: 'entries', type: 'text', nullable: true },
  ],
}

/** Columns of plug-ins: one row a value, so that a plug-in can add columns to a store that stands. */
export const PLUGIN_FIELDS: TableDeclaration = {
  name: 'chroma_plugin_fields',
  ofEntry: true,
  key: ['entry', 'name'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** The column; unique among all plug-ins. */
    { name: 'name', type: 'text' },
    /** JSON; never null: an unset column has no row. */
    { name: 'value', type: 'text' },
  ],
  indexes: [['name']],
}

export const CHROMA_TABLES: readonly TableDeclaration[] = [NODES, HASHTAGS, MEMORY, CYCLES, USES, PLUGIN_FIELDS]
