/** The nodes that a viewer holds as a document (CQ-128), with the viewer's memory of them. */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { type Steps, Turns } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { writeMany } from '../../../pipeline/write-many.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { BindingSet } from '../colour/bindings.ts'
import { nodeIdOf } from '../colour/coordinates.ts'
import { ANCHORS } from '../colour/stack.ts'
import { invalidParameter, invalidState, placed, ValidationError } from '../errors.ts'
import { defaultMemory, readMemory, type StoredMemory, tellUses, writeMemory } from '../memory/memory-rows.ts'
import { type Color, color, hashtagList } from '../model.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { modeName, NODE_COLLECTION, type NodeToPut, nodeTexts, pluginFields, putNode } from './nodes.ts'
import { type NodeAspect, readNodes, type StoredNode } from './stored.ts'

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

/** Of the two colours, in each coordinate. */
const COLOR_TOLERANCE = 1e-6
/** With more of them, whoever follows the uses reads all again. */
const MOST_TOLD = 10_000

/** How many there were. `requireEditor` throws where the viewer may not assign the hashtags that are not assigned yet. */
export async function importNodes(
  state: ChromaState,
  viewer: Viewer,
  { nodes: list, bindings = {} }: DocumentToImport,
  requireEditor: () => void,
): Promise<{ readonly imported: number }> {
  const { host } = state
  // Documents of older versions have no bindings.
  const assignments = Object.entries(bindings).map(([hashtag, anchorId]) => ({ hashtag, anchorId }))
  const write = function* (writer: StoreWriter) {
    // Throws `hashtag_assigned` or `anchor_occupied` where another binding is, and adds those that are not there.
    const assigned = state.bindings.assignIn(writer, assignments, requireEditor)
    // A store in memory has pauses until its first change.
    const nodes = yield* checkNodes(state, assigned.set, viewer, list)
    assigned.save()
    const keys: EntryKey[] = []
    for (const node of nodes) {
      keys.push(restore(state, writer, viewer, node))
      yield
    }
    if (keys.length > 0) tellUses(writer, viewer.id, keys.length > MOST_TOLD ? null : keys)
    return assigned
  }
  const assigned = await writeMany(host.store, host.clock.now(), list.length, write, new Turns())
  assigned.adopt()
  return { imported: list.length }
}

function* checkNodes(
  state: ChromaState,
  set: BindingSet,
  viewer: Viewer,
  list: readonly NodeToImport[],
): Steps<readonly CheckedNode[]> {
  const now = secondsNow(state.host)
  const ids = new Set<string>()
  const checked: CheckedNode[] = []
  for (const [at, given] of list.entries()) {
    try {
      const node = checkNode(state, set, viewer, given, now)
      if (ids.has(node.put.id)) throw duplicate(node.put.id)
      ids.add(node.put.id)
      checked.push(node)
    } catch (error) {
      throw placed(error, `nodes[${at}]`, { index: at })
    }
    yield
  }
  return checked
}

interface CheckedNode {
  readonly put: NodeToPut
  readonly memory: StoredMemory
  readonly pluginFields: JsonObject
}

/** What a schema cannot say: times against the clock, hashtags against those that are assigned here. */
function checkNode(state: ChromaState, set: BindingSet, viewer: Viewer, given: NodeToImport, now: number): CheckedNode {
  const { entry_id: id, label, content, decay_enabled = true, version = 0, decayed_at = 0 } = given
  const metadata = structuredClone(given.metadata ?? null)
  const pluginFields = state.extensions.check(given.plugin_fields ?? {})
  const { created_at, last_accessed, strength_raw, decay_health, ascension, rotten, access_count, mode_name } = given
  const signals = { last_accessed, strength_raw, decay_health, ascension, rotten, access_count }
  checkTimes(given, now)
  if (decayed_at > now) throw invalidParameter('decayed_at', decayed_at, 'whole Unix seconds, no later than now')
  const { hashtags, bindings } = state.coordinates.check(given.hashtags, set)
  const color = state.coordinates.color({ bindings })
  mustAgree(given.color, color)
  const aspect: NodeAspect = {
    color,
    node_id: nodeIdOf(color),
    hashtags,
    mode_name,
    decay_enabled,
    has_metadata: metadata !== null,
    created_at,
    version,
  }
  const audienceOfViewer = audience('private', viewer.id)
  const nowMs = now * 1000
  return {
    put: { id, label, content, metadata, audience: audienceOfViewer, collection: NODE_COLLECTION, aspect, now: nowMs },
    memory: { ...signals, decayed_at, version: 0 },
    pluginFields,
  }
}

/** What no node's state may be (CQ-129), beyond its form. */
function checkTimes({ created_at, last_accessed, ascension, rotten }: NodeToImport, now: number): void {
  const wrong = (field: string, value: unknown, expected: string) => invalidState(`node.${field}`, { value, expected })
  if (created_at > now) throw wrong('created_at', created_at, `no later than now (${now})`)
  if (last_accessed < created_at)
    throw wrong('last_accessed', last_accessed, `no earlier than created_at (${created_at})`)
  if (ascension && rotten) throw wrong('rotten', rotten, 'false for an ascended node')
}

/** A missing colour is computed; another one shows that hashtags sit elsewhere in the store it came from. */
function mustAgree(given: NodeToImport['color'], color: Color): void {
  if (given === undefined || given === null) return
  const differs = color.some((value, at) => Math.abs(value - (given[at] as number)) > COLOR_TOLERANCE)
  if (!differs) return
  const details = { given: [...given], computed: [...color] }
  const message = `color: the hashtags lie at ${color.join(', ')} in this store, not at ${given.join(', ')}`
  throw new ValidationError('color_mismatch', message, details)
}

function restore(state: ChromaState, writer: StoreWriter, viewer: Viewer, node: CheckedNode): EntryKey {
  const { put, memory, pluginFields } = node
  const everywhere = writer.partitions().map(({ id }) => id)
  const same = writer.identities(writer.find(put.id, everywhere))
  if (same.some(({ holder }) => holder === viewer.id)) throw duplicate(put.id)
  const key = putNode(writer, put)
  state.extensions.write(writer, key, pluginFields)
  writeMemory(writer, viewer.id, key, memory)
  return key
}

function duplicate(id: string): ValidationError {
  const message = `entry_id: there is an entry ${JSON.stringify(id)} already`
  return new ValidationError('duplicate_entry', message, { entry_id: id }, undefined, {
    help: 'Delete it first, or leave it out of the document.',
  })
}
