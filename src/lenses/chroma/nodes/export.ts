/** The nodes that a viewer holds as a document (CQ-128), with the viewer's memory of them. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import { ANCHORS } from '../colour/stack.ts'
import { defaultMemory, readMemory } from '../memory/memory-rows.ts'
import { color, hashtagList } from '../model.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { modeName, nodeTexts, pluginFields } from './create.ts'
import { readNodes, type StoredNode } from './stored.ts'

export const DOCUMENT_VERSION = 1

/** Nodes read at once. */
const PAGE = 1_000

/** A node with this viewer's memory of it. */
const exportedNode = z.strictObject({
  entry_id: z.string().min(1).max(MAX_ID_LENGTH).describe('Id that the node keeps'),
  node_id: z.string().describe('Name of the colour; an import computes it again'),
  color: color.describe('[L, a, b] as computed from the hashtags'),
  hashtags: hashtagList,
  ...nodeTexts,
  metadata: nodeTexts.metadata.unwrap().describe('What its writer added; null: nothing'),
  created_at: z.int().describe('Unix seconds, no later than now'),
  last_accessed: z.int().describe('Last use, Unix seconds, no earlier than created_at'),
  strength_raw: z.number().min(0).describe('Memory strength before normalising, at least 0'),
  decay_health: z.number().min(0).max(1).describe('1 when fresh, towards 0 without use'),
  ascension: z.boolean().describe('Whether it stays for good; then rotten is false'),
  rotten: z.boolean().describe('Whether it is forgotten: found only with include_rotten'),
  mode_name: modeName,
  access_count: z.int().min(0).describe('Uses, at least 0'),
  decay_enabled: z.boolean().describe('Whether it fades when it is not used'),
  version: z.int().min(0).describe('Changes so far, at least 0'),
  decayed_at: z
    .int()
    .min(0)
    .describe('Until when its strength has been decayed, Unix seconds, no later than now; 0: never'),
  plugin_fields: pluginFields,
})
export type ExportedNode = ReadonlyDeep<z.infer<typeof exportedNode>>

/** Of older versions, or written by hand: what can be made again may be absent. */
const nodeToImport = exportedNode.extend({
  node_id: exportedNode.shape.node_id.nullish().describe('Name of the colour; computed again. Default: none'),
  color: color.nullish().describe('[L, a, b], compared with what the hashtags give here. Default: not compared'),
  metadata: nodeTexts.metadata,
  decay_enabled: z.boolean().optional().describe('Whether it fades when it is not used. Default: true'),
  version: z.int().min(0).optional().describe('Changes so far, at least 0. Default: 0'),
  decayed_at: exportedNode.shape.decayed_at
    .optional()
    .describe(`${exportedNode.shape.decayed_at.description}. Default: 0`),
  plugin_fields: pluginFields.nullish().describe(pluginFields.description ?? ''),
})
export type NodeToImport = ReadonlyDeep<z.infer<typeof nodeToImport>>

export const nodeDocument = z.strictObject({
  version: z.literal(DOCUMENT_VERSION).describe('Version of the format: 1'),
  exported_at: z.int().describe('When it was written, Unix seconds'),
  nodes: z.array(exportedNode).describe('By entry id'),
  bindings: z
    .record(z.string(), z.int().min(1).max(ANCHORS))
    .describe('Of the hashtags that the nodes carry: the number of the anchor each is bound to'),
})
export type NodeDocument = ReadonlyDeep<z.infer<typeof nodeDocument>>

export const documentToImport = nodeDocument.extend({
  exported_at: z.int().optional().describe('When it was written, Unix seconds; not used. Default: unknown'),
  nodes: z.array(nodeToImport).describe('All of them are stored, or none'),
  bindings: nodeDocument.shape.bindings
    .optional()
    .describe(`${nodeDocument.shape.bindings.description}. Default: none, all hashtags are assigned here`),
})
export type DocumentToImport = ReadonlyDeep<z.infer<typeof documentToImport>>

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
