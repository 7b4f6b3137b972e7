/** Nodes restored from an exported document (CQ-129), with the viewer's memory of them: all of them or none. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { Assignment } from '../colour/assignment.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { invalidParameter, placed, ValidationError } from '../errors.ts'
import { refuseUnknown } from '../given.ts'
import { checkState } from '../memory/check-state.ts'
import { type StoredMemory, writeMemory } from '../memory/memory-rows.ts'
import { tellUses } from '../memory/uses.ts'
import type { Color, ModeName } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { checkContent, checkLabel, soundMetadata } from './checks.ts'
import { NODE_COLLECTION, type NodeToPut, putNode } from './create.ts'
import { DOCUMENT_VERSION } from './export.ts'
import type { NodeAspect } from './stored.ts'

/** Of the two colours, in each coordinate. */
const COLOR_TOLERANCE = 1e-6
/** With more of them, whoever follows the uses reads all again. */
const MOST_TOLD = 10_000

/** How many there were. `requireEditor` throws where the viewer may not assign the hashtags that are not assigned yet. */
export function importNodes(
  state: ChromaState,
  viewer: Viewer,
  document: unknown,
  requireEditor: () => void,
): { readonly imported: number } {
  const { host } = state
  if (!isPlainObject(document)) throw invalidParameter('document', document, 'an object with nodes')
  refuseUnknown(document, ['version', 'exported_at', 'nodes', 'bindings'])
  const { version } = document
  if (version !== DOCUMENT_VERSION) throw invalidParameter('version', version, String(DOCUMENT_VERSION))
  const list = document['nodes']
  if (!Array.isArray(list)) throw invalidParameter('nodes', list, 'a list')
  const assignments = checkBindings(document['bindings'])
  host.store.write(host.clock.now(), writer => {
    // Throws `hashtag_assigned` or `anchor_occupied` where another binding is, and adds those that are not there.
    state.bindings.assignMany(assignments, requireEditor)
    const nodes = checkNodes(state, viewer, list)
    const keys = nodes.map(node => restore(state, writer, viewer, node))
    if (keys.length > 0) tellUses(writer, viewer.id, keys.length > MOST_TOLD ? null : keys)
  })
  return { imported: list.length }
}

function checkNodes(state: ChromaState, viewer: Viewer, list: readonly unknown[]): readonly CheckedNode[] {
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

/** Documents of older versions have none. */
function checkBindings(given: unknown): readonly Assignment[] {
  if (given === undefined) return []
  if (!isPlainObject(given)) throw invalidParameter('bindings', given, 'an object of anchors by hashtag')
  return Object.entries(given).map(([hashtag, anchorId]) => ({ hashtag, anchorId: anchorId as number }))
}

interface CheckedNode {
  readonly put: NodeToPut
  readonly memory: StoredMemory
  readonly pluginFields: JsonObject
}

const FIELDS: readonly string[] = [
  'entry_id',
  'node_id',
  'color',
  'hashtags',
  'label',
  'content',
  'metadata',
  'created_at',
  'last_accessed',
  'strength_raw',
  'decay_health',
  'ascension',
  'rotten',
  'mode_name',
  'access_count',
  'decay_enabled',
  'version',
  'decayed_at',
  'plugin_fields',
]

function checkNode(state: ChromaState, viewer: Viewer, given: unknown, now: number): CheckedNode {
  if (!isPlainObject(given)) throw invalidParameter('node', given, 'an object')
  refuseUnknown(given, FIELDS)
  const { entry_id: id, label, content, decay_enabled: decayEnabled = true, version = 0, decayed_at = 0 } = given
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) {
    throw invalidParameter('entry_id', id, `a text of 1 to ${MAX_ID_LENGTH} characters`)
  }
  checkLabel(label)
  checkContent(content)
  if (typeof decayEnabled !== 'boolean') throw invalidParameter('decay_enabled', decayEnabled, 'true or false')
  const metadata = soundMetadata(given['metadata'] ?? null)
  const pluginFields = state.extensions.check(given['plugin_fields'] ?? {})
  const { created_at, last_accessed, strength_raw, decay_health, ascension, rotten, access_count, mode_name } = given
  const signals = { last_accessed, strength_raw, decay_health, ascension, rotten, access_count }
  checkState({ ...signals, created_at, mode_name, version }, now, 'node')
  if (!Number.isSafeInteger(decayed_at) || (decayed_at as number) < 0 || (decayed_at as number) > now) {
    throw invalidParameter('decayed_at', decayed_at, 'whole Unix seconds, no later than now')
  }
  const { hashtags, bindings } = state.coordinates.check(given['hashtags'] as readonly unknown[])
  const color = state.coordinates.color({ bindings })
  mustAgree(given['color'], color)
  const aspect: NodeAspect = {
    color,
    node_id: nodeIdOf(color),
    hashtags,
    mode_name: mode_name as ModeName,
    decay_enabled: decayEnabled,
    has_metadata: metadata !== null,
    created_at: created_at as number,
    version: version as number,
  }
  const audienceOfViewer = audience('private', viewer.id)
  const nowMs = now * 1000
  return {
    put: { id, label, content, metadata, audience: audienceOfViewer, collection: NODE_COLLECTION, aspect, now: nowMs },
    memory: {
      ...(signals as Omit<StoredMemory, 'decayed_at' | 'version'>),
      decayed_at: decayed_at as number,
      version: 0,
    },
    pluginFields,
  }
}

/** A missing colour is computed; another one shows that hashtags sit elsewhere in the store it came from. */
function mustAgree(given: unknown, color: Color): void {
  if (given === undefined || given === null) return
  const isColor = Array.isArray(given) && given.length === 3 && given.every(Number.isFinite)
  if (!isColor) throw invalidParameter('color', given, 'a list of three finite numbers')
  const differs = color.some((value, at) => Math.abs(value - (given[at] as number)) > COLOR_TOLERANCE)
  if (!differs) return
  const details = { given: [...given] as Json[], computed: [...color] }
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
