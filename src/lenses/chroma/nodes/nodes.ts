/** Stores and changes nodes (CQ-123, CQ-124). A node is an entry with a position in colour space; both are written in one transaction. */

import { z } from 'zod'
import { type JsonObject, v4Id } from '../../../base/canonical.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { hasStorableTexts } from '../../../base/storable.ts'
import { type Steps, Turns } from '../../../base/turns.ts'
import type { EntryDraft, EntryKey } from '../../../model/entry.ts'
import { keptText } from '../../../model/entry-input.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { anyJson, jsonObjectInput } from '../../../model/parse-input.ts'
import { type Audience, audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { writeMany } from '../../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import type { CamelCased } from '../../camel-name.ts'
import type { BindingSet } from '../colour/bindings.ts'
import { type ChosenTag, completeSet } from '../colour/coordinates.ts'
import { ANCHORS, tagsInText } from '../colour/stack.ts'
import { invalidParameter, invalidState, placed, retryingWrite, ValidationError } from '../errors.ts'
import { MODE_NAMES } from '../memory/formulas.ts'
import { type Color, color, hashtagList, type NodeRow } from '../model.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { defaultMemory, logUses, readMemory, type StoredMemory, writeMemory } from '../tables.ts'
import { findNode, findOwnNode, type NodeAspect, nodeRow, readNodes, type StoredNode, writeAspect } from './stored.ts'

export const NODE_KIND = 'node'
export const NODE_COLLECTION = 'chroma'

/** Largest length of a node's label, in Unicode characters. */
const MAX_LABEL = 500
/** Largest size of a node's content, in UTF-8 bytes. */
const MAX_CONTENT = 1_048_576

const labelText = z.string().refine(text => lengthOf(text) <= MAX_LABEL, `at most ${MAX_LABEL} characters`)
const contentText = z.string().refine(fits, `at most ${MAX_CONTENT} bytes in UTF-8`).meta({ maxLength: MAX_CONTENT })

/** Schemas of the fields of a node that its writer gives: label, content and further ones. */
export const nodeTexts = {
  label: keptText(labelText.meta({ maxLength: MAX_LABEL })).describe('Title, at most 500 characters'),
  content: keptText(contentText).describe('The text, in Markdown or plain, at most 1 MiB in UTF-8'),
  metadata: jsonObjectInput
    .refine(hasStorableTexts, 'texts without NUL and lone surrogates')
    .nullish()
    .describe('Anything else about the node, for filters; null: nothing. Default: null'),
}

export const modeName = z
  .enum(MODE_NAMES)
  .describe(
    'Memory mode: without use recency falls to 1/e in 1.5 days (Sparse), 2 (Spacey), 3 (Adaptive) or 7 (Eidetic, which never rots)',
  )

export const pluginFields = z
  .record(z.string(), anyJson)
  .describe('Values by column that a plug-in added; null unsets one. Default: none')

export const newNode = z
  .strictObject({
    hashtags: hashtagList.optional().describe(`${hashtagList.description}; or give auto_tags`),
    auto_tags: z
      .boolean()
      .optional()
      .describe(
        'Choose the hashtags: those of `hashtags` or else those that label and content name, and then the assigned ones nearest in meaning. Default: false',
      ),
    ...nodeTexts,
    mode_name: modeName.optional().describe(`${modeName.description}. Default: Adaptive (setting memory.default_mode)`),
    plugin_fields: pluginFields.optional(),
    visibility: z
      .enum(['private', 'shared', 'public'])
      .optional()
      .describe('Who may see it besides its holder: nobody, members of federations, everybody. Default: private'),
    federations: z
      .array(z.string())
      .optional()
      .describe(
        'Ids of the federations whose members may see it. Only with visibility shared, where it is required. Default: none',
      ),
    collection: z.string().min(1).optional().describe('Collection of the entry. Default: chroma'),
  })
  .refine(({ hashtags, auto_tags }) => hashtags !== undefined || auto_tags === true, {
    path: ['hashtags'],
    error: 'a list of hashtags, or auto_tags',
  })
export type NewNode = CamelCased<ReadonlyDeep<z.input<typeof newNode>>>

/** Stores a node with the hashtags that the caller gives, and returns its id. */
export function storeNode(state: ChromaState, viewer: Viewer, given: NewNode): string {
  const node = checked(state, viewer, given)
  const { host } = state
  const id = v4Id(bytes => host.random(bytes))
  host.store.write(host.clock.now(), writer => {
    const key = putNode(writer, { ...node, id, now: host.clock.now() })
    state.extensions.write(writer, key, node.pluginFields)
  })
  return id
}

/**
 * Stores a node. Where the node asks for it (`auto_tags`), its hashtags are completed from its text, and the result names them (CQ-149).
 */
export async function storeTagged(
  state: ChromaState,
  viewer: Viewer,
  { autoTags = false, ...node }: NewNode,
  signal?: AbortSignal,
): Promise<{ readonly entry_id: string; readonly tags?: readonly ChosenTag[] }> {
  if (!autoTags) return { entry_id: await retryingWrite(() => storeNode(state, viewer, node), state) }
  const tags = await chooseTags(state, `${node.label}\n${node.content}`, node.hashtags, signal)
  const hashtags = tags.map(({ hashtag }) => hashtag)
  return { entry_id: await retryingWrite(() => storeNode(state, viewer, { ...node, hashtags }), state), tags }
}

/**
 * Chooses a set of hashtags with the required numbers in total and per zone: first `given`, or else the hashtags that the text names, then
 * assigned hashtags that are nearest to the text.
 */
export function chooseTags(
  { bindings, coordinates, meanings }: ChromaState,
  text: string,
  given?: readonly string[],
  signal?: AbortSignal,
): Promise<readonly ChosenTag[]> {
  const named = given ?? tagsInText(text, bindings.current.resolve)
  return completeSet(text, coordinates.resolveAll(named), bindings.list(), meanings, signal)
}

export interface NodeToPut {
  readonly id: string
  readonly label: string
  readonly content: string
  readonly metadata: JsonObject | null
  readonly audience: Audience
  readonly collection: string
  readonly aspect: NodeAspect
  /** Time of the call, in milliseconds since 1970. */
  readonly now: number
}

export function putNode(writer: StoreWriter, node: NodeToPut): EntryKey {
  const { id, label, content, metadata, collection, aspect, now } = node
  const draft: EntryDraft = {
    id,
    collection,
    kind: NODE_KIND,
    title: label,
    content,
    tags: aspect.hashtags,
    metadata: metadata ?? {},
    audience: node.audience,
    origin: null,
    createdAt: aspect.created_at * 1000,
    updatedAt: now,
    validFrom: null,
    validUntil: null,
    knownAt: now,
  }
  const { key } = writer.put(draft, chunkContent(content, { format: 'markdown' }))
  writeAspect(writer, key, aspect)
  return key
}

function checked(
  state: ChromaState,
  viewer: Viewer,
  given: NewNode,
): Omit<NodeToPut, 'id' | 'now'> & { readonly pluginFields: JsonObject } {
  const { label, content, modeName = state.settings.memory.defaultMode, collection = NODE_COLLECTION } = given
  const metadata = structuredClone(given.metadata ?? null)
  const pluginFields = state.extensions.check(given.pluginFields ?? {})
  const audience = audienceOf(viewer, given)
  const aspect: NodeAspect = {
    ...state.coordinates.place(given.hashtags ?? []),
    mode_name: modeName,
    decay_enabled: true,
    has_metadata: metadata !== null,
    created_at: secondsNow(state.host),
    version: 0,
  }
  return { label, content, metadata, audience, collection, aspect, pluginFields }
}

function audienceOf(viewer: Viewer, { visibility = 'private', federations }: NewNode): Audience {
  if ((visibility === 'shared') !== (federations !== undefined)) {
    throw invalidParameter('federations', federations, 'a list of names with visibility shared, and nothing otherwise')
  }
  return audience(visibility, viewer.id, federations ?? [])
}

/** Number of Unicode characters of a text; a text that is far too long for a label gives its number of UTF-16 units, which is quicker. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_LABEL ? text.length : [...text].length
}

function fits(text: string): boolean {
  return text.length <= MAX_CONTENT && Buffer.byteLength(text) <= MAX_CONTENT
}

export const entryId = z.string().describe('Id of a node, as chroma.store and chroma.query return it')

/** Schema of a change to a node (stored note): each given field replaces that field of the node, and absent fields stay unchanged. */
export const nodeUpdate = z.strictObject({
  label: nodeTexts.label.optional().describe(`${nodeTexts.label.description}. Default: unchanged`),
  content: nodeTexts.content.optional().describe(`${nodeTexts.content.description}. Default: unchanged`),
  metadata: nodeTexts.metadata.describe('Replaces all metadata; null removes them. Default: unchanged'),
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

/** Returns the visible node of this id, or null. Does not count as a use of the node. */
export function getNode({ host, extensions }: ChromaState, viewer: Viewer, id: string): NodeRow | null {
  return host.store.read(reader => {
    const node = findNode(reader, id, host.accessScope(viewer))
    if (node === undefined) return null
    const { entry, aspect } = node
    const memory = readMemory(reader, viewer.id, entry.key) ?? defaultMemory(aspect.created_at)
    return nodeRow(node, memory, extensions.read(reader, entry.key))
  })
}

export function deleteNode(state: ChromaState, viewer: Viewer, id: string): boolean {
  const { host } = state
  return host.store.write(host.clock.now(), writer => {
    const node = findOwnNode(writer, id, host.accessScope(viewer))
    return node !== undefined && writer.delete(node.entry.key)
  })
}

/**
 * Applies all of the changes to a node, or none. Returns false when no field is given, or no node of this id exists that the viewer may
 * change.
 */
export function changeNode(state: ChromaState, viewer: Viewer, id: string, changes: NodeChanges): boolean {
  const { label, content, metadata, mode_name, decay_enabled, rotten = false, plugin_fields = {} } = changes
  const fields = state.extensions.check(plugin_fields)
  const hasTexts = label !== undefined || content !== undefined || metadata !== undefined
  const given = [hasTexts, mode_name !== undefined, decay_enabled !== undefined].filter(Boolean)
  const steps = given.length + Object.keys(fields).length
  if (steps === 0 && !rotten) return false
  const { host } = state
  const now = host.clock.now()
  return host.store.write(now, writer => {
    // Marking a node as rotten changes only the viewer's own memory, so any visible node may be marked. All other changes need a node that
    // the viewer holds.
    const node = (steps === 0 ? findNode : findOwnNode)(writer, id, host.accessScope(viewer))
    if (node === undefined || (rotten && !rot(writer, viewer, node))) return false
    if (steps === 0) return true
    const { entry, aspect } = node
    if (hasTexts) {
      const text = content ?? entry.content
      const draft = {
        ...{ ...entry, title: label ?? entry.title, content: text, updatedAt: now },
        metadata: metadata === undefined ? entry.metadata : structuredClone(metadata ?? {}),
      }
      writer.put(draft, chunkContent(text, { format: 'markdown' }))
    }
    state.extensions.write(writer, entry.key, fields)
    writeAspect(writer, entry.key, {
      ...aspect,
      mode_name: mode_name ?? aspect.mode_name,
      decay_enabled: decay_enabled ?? aspect.decay_enabled,
      has_metadata: metadata === undefined ? aspect.has_metadata : metadata !== null,
      version: aspect.version + steps,
    })
    // Announces the changed entry, so that indexes and memory columns learn of it through the change feed.
    writer.announce(entry.key)
    return true
  })
}

/** Marks a node as rotten in the viewer's memory. Returns false for a node that has ascended. */
function rot(writer: StoreWriter, viewer: Viewer, { entry: { key }, aspect }: StoredNode): boolean {
  const memory = readMemory(writer, viewer.id, key) ?? defaultMemory(aspect.created_at)
  if (memory.ascension || memory.rotten) return !memory.ascension
  writeMemory(writer, viewer.id, key, { ...memory, rotten: true, version: memory.version + 1 })
  logUses(writer, viewer.id, [key])
  return true
}

// Exports the nodes that a viewer holds as a JSON document, with the viewer's memory of them, and imports such a document (CQ-128).

export const DOCUMENT_VERSION = 1

/** Number of nodes that an export reads before it pauses for other work. */
const PAGE = 1_000

/** Schema of a node in an export document, with the exporting viewer's memory of the node. */
const exportedNode = z.strictObject({
  entry_id: z.string().min(1).max(MAX_ID_LENGTH).describe('Id that the node keeps'),
  node_id: z.string().describe('Name of the colour; an import computes it again'),
  color: color.describe('[L, a, b] as computed from the hashtags'),
  hashtags: hashtagList,
  ...nodeTexts,
  metadata: nodeTexts.metadata.unwrap().describe('Data that its writer added; null: none'),
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
    .describe('Time up to which decay was applied to its strength, Unix seconds, no later than now; 0: never'),
  plugin_fields: pluginFields,
})
export type ExportedNode = ReadonlyDeep<z.infer<typeof exportedNode>>

/**
 * Schema of a node in a document to import. The document may be of an older version or written by hand, so fields that can be computed may
 * be absent.
 */
const nodeToImport = exportedNode.extend({
  node_id: exportedNode.shape.node_id.nullish().describe('Name of the colour; computed again. Default: none'),
  color: color.nullish().describe('[L, a, b], compared with what the hashtags give here. Default: not compared'),
  metadata: nodeTexts.metadata,
  decay_enabled: z.boolean().optional().describe('Let it fade while it is not used. Default: true'),
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
    .describe('Number of the anchor of each hashtag that the nodes carry'),
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
    const keys = [...reader.matching(host.accessScope(viewer), { op: 'eq', field: 'holder', value: viewer.id })]
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
  const { color_L, color_a, color_b, state: _, ...row } = nodeRow(node, memory, {})
  return {
    ...row,
    color: [color_L, color_a, color_b],
    version: aspect.version + memory.version,
    decayed_at: memory.decayed_at,
    plugin_fields: extensions.read(reader, entry.key),
  }
}

/** Largest difference per CIELAB coordinate at which a document's colour and the computed colour of a node count as equal. */
const COLOR_TOLERANCE = 1e-6
/**
 * Largest number of changed nodes that an import names in the log of changed memories. With more, the log line names none, and processes
 * that read the log load all memories again.
 */
const MAX_LOGGED = 10_000

/**
 * Imports the nodes of a document and returns their number. `requireEditor` is called where the document has a hashtag that is not assigned
 * yet, and throws where the viewer may not assign hashtags.
 */
export async function importNodes(
  state: ChromaState,
  viewer: Viewer,
  { nodes: list, bindings = {} }: DocumentToImport,
  requireEditor: () => void,
): Promise<{ readonly imported: number }> {
  const { host } = state
  // A document of an older version has no bindings of hashtags; the hashtags must then be assigned in the store.
  const assignments = Object.entries(bindings).map(([hashtag, anchorId]) => ({ hashtag, anchorId }))
  const write = function* (writer: StoreWriter) {
    // Assigns the document's hashtags that the store lacks. Throws `hashtag_assigned` or `anchor_occupied` where the store already binds
    // the hashtag or its anchor (colour position) differently.
    const assigned = state.bindings.assignIn(writer, assignments, requireEditor)
    // In a store in memory, a transaction may pause for other work only before its first change, so all nodes are checked before anything
    // is written.
    const nodes = yield* checkNodes(state, assigned.set, viewer, list)
    assigned.save()
    const keys: EntryKey[] = []
    for (const node of nodes) {
      keys.push(restore(state, writer, viewer, node))
      yield
    }
    if (keys.length > 0) logUses(writer, viewer.id, keys.length > MAX_LOGGED ? null : keys)
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

/** Checks what a schema cannot express: a node's times against the clock, and its hashtags against the bindings of this store. */
function checkNode(state: ChromaState, set: BindingSet, viewer: Viewer, given: NodeToImport, now: number): CheckedNode {
  const { entry_id: id, label, content, decay_enabled = true, version = 0, decayed_at = 0 } = given
  const metadata = structuredClone(given.metadata ?? null)
  const pluginFields = state.extensions.check(given.plugin_fields ?? {})
  const { created_at, last_accessed, strength_raw, decay_health, ascension, rotten, access_count, mode_name } = given
  const signals = { last_accessed, strength_raw, decay_health, ascension, rotten, access_count }
  checkTimes(given, now)
  if (decayed_at > now) throw invalidParameter('decayed_at', decayed_at, 'whole Unix seconds, no later than now')
  const place = state.coordinates.place(given.hashtags, set)
  assertAgrees(given.color, place.color)
  const aspect: NodeAspect = {
    ...place,
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

/** Throws `invalid_state` for combinations of times and states that no node can have (CQ-129). */
function checkTimes({ created_at, last_accessed, ascension, rotten }: NodeToImport, now: number): void {
  const wrong = (field: string, value: unknown, expected: string) => invalidState(`node.${field}`, { value, expected })
  if (created_at > now) throw wrong('created_at', created_at, `no later than now (${now})`)
  if (last_accessed < created_at)
    throw wrong('last_accessed', last_accessed, `no earlier than created_at (${created_at})`)
  if (ascension && rotten) throw wrong('rotten', rotten, 'false for an ascended node')
}

/**
 * Requires that a node's colour in the document, where it is given, equals the computed one. A different colour shows that the document's
 * store had bound the hashtags to other anchors (colour positions).
 */
function assertAgrees(given: NodeToImport['color'], color: Color): void {
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
