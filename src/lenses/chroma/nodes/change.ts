/** Changing and reading single nodes (CQ-126, CQ-127). What is not there and what the viewer may not change are one. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import { defaultMemory, readMemory, writeMemory } from '../memory/memory-rows.ts'
import { tellUses } from '../memory/uses.ts'
import type { ModeName } from '../mode-names.ts'
import type { NodeRow } from '../model.ts'
import type { ChromaState } from '../state.ts'
import { modeName, nodeTexts, pluginFields } from './create.ts'
import { nodeRow } from './rows.ts'
import { findNode, findOwnNode, type StoredNode, writeAspect } from './stored.ts'

export const entryId = z.string().describe('Id of a node, as chroma.store and chroma.query return it')

/** What replaces the texts of a node; what is absent stays. */
export const nodeUpdate = z.strictObject({
  label: nodeTexts.label.optional().describe(`${nodeTexts.label.description}. Default: unchanged`),
  content: nodeTexts.content.optional().describe(`${nodeTexts.content.description}. Default: unchanged`),
  metadata: nodeTexts.metadata.describe('In place of all metadata there were; null removes them. Default: unchanged'),
})
export type NodeUpdate = ReadonlyDeep<z.infer<typeof nodeUpdate>>

export const nodeChanges = nodeUpdate.extend({
  mode_name: modeName.optional().describe(`${modeName.description}. Default: unchanged`),
  decay_enabled: z.boolean().optional().describe('Whether the node fades when it is not used. Default: unchanged'),
  rotten: z
    .literal(true)
    .optional()
    .describe('true marks it as forgotten; a rotten node is rescued by being used. Default: unchanged'),
  plugin_fields: pluginFields.optional(),
})
export type NodeChanges = ReadonlyDeep<z.infer<typeof nodeChanges>>

/** No access. */
export function getNode({ host, extensions }: ChromaState, viewer: Viewer, id: string): NodeRow | null {
  return host.store.read(reader => {
    const node = findNode(reader, id, host.sight(viewer))
    if (node === undefined) return null
    const { entry, aspect } = node
    const memory = readMemory(reader, viewer.id, entry.key) ?? defaultMemory(aspect.created_at)
    return nodeRow(node, memory, extensions.read(reader, entry.key))
  })
}

export function updateNode(state: ChromaState, viewer: Viewer, id: string, update: NodeUpdate): boolean {
  const { label, content, metadata } = update
  if (label === undefined && content === undefined && metadata === undefined) return false
  const { clock } = state.host
  return changing(state, viewer, id, (writer, { entry, aspect }) => {
    const text = content ?? entry.content
    const draft = {
      ...entry,
      title: label ?? entry.title,
      content: text,
      metadata: metadata === undefined ? entry.metadata : structuredClone(metadata ?? {}),
      updatedAt: clock.now(),
    }
    writer.put(draft, chunkContent(text, { format: 'markdown' }))
    const hasMetadata = metadata === undefined ? aspect.has_metadata : metadata !== null
    writeAspect(writer, entry.key, { ...aspect, has_metadata: hasMetadata, version: aspect.version + 1 })
  })
}

export function deleteNode(state: ChromaState, viewer: Viewer, id: string): boolean {
  const { host } = state
  return host.store.write(host.clock.now(), writer => {
    const node = findOwnNode(writer, id, host.sight(viewer))
    return node !== undefined && writer.delete(node.entry.key)
  })
}

export function setNodeMode(state: ChromaState, viewer: Viewer, id: string, mode_name: ModeName): boolean {
  return changing(state, viewer, id, (writer, { entry, aspect }) => {
    writeAspect(writer, entry.key, { ...aspect, mode_name, version: aspect.version + 1 })
  })
}

export function setNodeDecay(state: ChromaState, viewer: Viewer, id: string, enabled: boolean): boolean {
  return changing(state, viewer, id, (writer, { entry, aspect }) => {
    writeAspect(writer, entry.key, { ...aspect, decay_enabled: enabled, version: aspect.version + 1 })
  })
}

/** Rot is a matter of the viewer's own memory: it takes no more than to see the node. */
export function markRotten(state: ChromaState, viewer: Viewer, id: string): boolean {
  const { host } = state
  return host.store.write(host.clock.now(), writer => {
    const node = findNode(writer, id, host.sight(viewer))
    if (node === undefined) return false
    const { key } = node.entry
    const memory = readMemory(writer, viewer.id, key) ?? defaultMemory(node.aspect.created_at)
    if (memory.ascension) return false
    if (memory.rotten) return true
    writeMemory(writer, viewer.id, key, { ...memory, rotten: true, version: memory.version + 1 })
    tellUses(writer, viewer.id, [key])
    return true
  })
}

export function writeField(state: ChromaState, viewer: Viewer, id: string, column: string, value: unknown): boolean {
  const fields = state.extensions.check({ [column]: value })
  return changing(state, viewer, id, (writer, { entry, aspect }) => {
    state.extensions.write(writer, entry.key, fields)
    writeAspect(writer, entry.key, { ...aspect, version: aspect.version + 1 })
  })
}

/** All of the changes, or none of them and false. */
export function changeNode(state: ChromaState, viewer: Viewer, id: string, changes: NodeChanges): boolean {
  const { mode_name, decay_enabled, rotten, plugin_fields = {}, ...texts } = changes
  const steps: (() => boolean)[] = []
  if (Object.keys(texts).length > 0) steps.push(() => updateNode(state, viewer, id, texts))
  if (mode_name !== undefined) steps.push(() => setNodeMode(state, viewer, id, mode_name))
  if (decay_enabled !== undefined) steps.push(() => setNodeDecay(state, viewer, id, decay_enabled))
  if (rotten !== undefined) steps.push(() => markRotten(state, viewer, id))
  for (const [column, value] of Object.entries(plugin_fields)) {
    steps.push(() => writeField(state, viewer, id, column, value))
  }
  return steps.length > 0 && allOrNone(state, steps)
}

class Undone extends Error {}

/** In one transaction, which is rolled back when a step returns false or throws. */
function allOrNone({ host }: ChromaState, steps: readonly (() => boolean)[]): boolean {
  try {
    host.store.write(host.clock.now(), () => {
      for (const step of steps) if (!step()) throw new Undone()
    })
    return true
  } catch (error) {
    if (error instanceof Undone) return false
    throw error
  }
}

/** False when there is no such node that the viewer may change. The feed is told: indexes and columns follow it. */
function changing(
  { host }: ChromaState,
  viewer: Viewer,
  id: string,
  change: (writer: StoreWriter, node: StoredNode) => void,
): boolean {
  return host.store.write(host.clock.now(), writer => {
    const node = findOwnNode(writer, id, host.sight(viewer))
    if (node === undefined) return false
    change(writer, node)
    writer.announce(node.entry.key)
    return true
  })
}
