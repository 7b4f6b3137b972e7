/** Nodes restored from an exported document (CQ-129), with the viewer's memory of them: all of them or none. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { invalidParameter, placed, ValidationError } from '../errors.ts'
import { checkState } from '../memory/check-state.ts'
import { type StoredMemory, writeMemory } from '../memory/memory-rows.ts'
import { tellUses } from '../memory/uses.ts'
import type { Color } from '../model.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { NODE_COLLECTION, type NodeToPut, putNode } from './create.ts'
import type { DocumentToImport, NodeToImport } from './export.ts'
import type { NodeAspect } from './stored.ts'

/** Of the two colours, in each coordinate. */
const COLOR_TOLERANCE = 1e-6
/** With more of them, whoever follows the uses reads all again. */
const MOST_TOLD = 10_000

/** How many there were. `requireEditor` throws where the viewer may not assign the hashtags that are not assigned yet. */
export function importNodes(
  state: ChromaState,
  viewer: Viewer,
  { nodes: list, bindings = {} }: DocumentToImport,
  requireEditor: () => void,
): { readonly imported: number } {
  const { host } = state
  // Documents of older versions have no bindings.
  const assignments = Object.entries(bindings).map(([hashtag, anchorId]) => ({ hashtag, anchorId }))
  host.store.write(host.clock.now(), writer => {
    // Throws `hashtag_assigned` or `anchor_occupied` where another binding is, and adds those that are not there.
    state.bindings.assignMany(assignments, requireEditor)
    const nodes = checkNodes(state, viewer, list)
    const keys = nodes.map(node => restore(state, writer, viewer, node))
    if (keys.length > 0) tellUses(writer, viewer.id, keys.length > MOST_TOLD ? null : keys)
  })
  return { imported: list.length }
}

function checkNodes(state: ChromaState, viewer: Viewer, list: readonly NodeToImport[]): readonly CheckedNode[] {
  const now = secondsNow(state.host)
  const ids = new Set<string>()
  return list.map((given, at) => {
    try {
      const node = checkNode(state, viewer, given, now)
      if (ids.has(node.put.id)) throw duplicate(node.put.id)
      ids.add(node.put.id)
      return node
    } catch (error) {
      throw placed(error, `nodes[${at}]`, { index: at })
    }
  })
}

interface CheckedNode {
  readonly put: NodeToPut
  readonly memory: StoredMemory
  readonly pluginFields: JsonObject
}

/** What a schema cannot say: times against the clock, hashtags against those that are assigned here. */
function checkNode(state: ChromaState, viewer: Viewer, given: NodeToImport, now: number): CheckedNode {
  const { entry_id: id, label, content, decay_enabled = true, version = 0, decayed_at = 0 } = given
  const metadata = structuredClone(given.metadata ?? null)
  const pluginFields = state.extensions.check(given.plugin_fields ?? {})
  const { created_at, last_accessed, strength_raw, decay_health, ascension, rotten, access_count, mode_name } = given
  const signals = { last_accessed, strength_raw, decay_health, ascension, rotten, access_count }
  checkState({ ...signals, created_at, mode_name, version }, now, 'node')
  if (decayed_at > now) throw invalidParameter('decayed_at', decayed_at, 'whole Unix seconds, no later than now')
  const { hashtags, bindings } = state.coordinates.check(given.hashtags)
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
