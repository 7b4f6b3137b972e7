/** Storing nodes (CQ-123, CQ-124): an entry and its place, in one transaction. */
import type { JsonObject } from '../../../base/canonical.ts'
import { v4Id } from '../../../base/random-id.ts'
import type { EntryDraft, EntryKey } from '../../../model/entry.ts'
import { type Audience, audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { invalidParameter } from '../errors.ts'
import { refuseUnknown } from '../given.ts'
import type { ModeName } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { checkContent, checkLabel, checkMode, soundMetadata } from './checks.ts'
import { type NodeAspect, writeAspect } from './stored.ts'

export const NODE_KIND = 'node'
export const NODE_COLLECTION = 'chroma'

export interface NewNode {
  readonly hashtags: readonly string[]
  readonly label: string
  readonly content: string
  readonly metadata?: JsonObject | null | undefined
  /** Default: that of the settings. */
  readonly modeName?: ModeName | undefined
  /** Columns of plug-ins. */
  readonly pluginFields?: JsonObject | undefined
  /** Who may see it; default private. */
  readonly visibility?: Audience['kind'] | undefined
  /** With `shared`: with whom. */
  readonly federations?: readonly string[] | undefined
  /** Default `chroma`. */
  readonly collection?: string | undefined
}

const FIELDS: readonly (keyof NewNode)[] = [
  'hashtags',
  'label',
  'content',
  'metadata',
  'modeName',
  'pluginFields',
  'visibility',
  'federations',
  'collection',
]

/** The id of the new node. */
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

export interface NodeToPut {
  readonly id: string
  readonly label: string
  readonly content: string
  readonly metadata: JsonObject | null
  readonly audience: Audience
  readonly collection: string
  readonly aspect: NodeAspect
  /** Milliseconds. */
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
  given: unknown,
): Omit<NodeToPut, 'id' | 'now'> & { readonly pluginFields: JsonObject } {
  if (!isPlainObject(given)) throw invalidParameter('node', given, 'an object')
  refuseUnknown(given, FIELDS)
  const { label, content, modeName = state.settings.memory.defaultMode, collection = NODE_COLLECTION } = given
  checkLabel(label)
  checkContent(content)
  const metadata = soundMetadata(given['metadata'] ?? null)
  checkMode(modeName)
  if (typeof collection !== 'string' || collection === '') {
    throw invalidParameter('collection', collection, 'a name')
  }
  const pluginFields = state.extensions.check(given['pluginFields'] ?? {})
  const audience = audienceOf(viewer, given['visibility'], given['federations'])
  const { hashtags, bindings } = state.coordinates.check(given['hashtags'] as readonly unknown[])
  const color = state.coordinates.color({ bindings })
  const aspect: NodeAspect = {
    color,
    node_id: nodeIdOf(color),
    hashtags,
    mode_name: modeName,
    decay_enabled: true,
    has_metadata: metadata !== null,
    created_at: secondsNow(state.host),
    version: 0,
  }
  return { label, content, metadata, audience, collection, aspect, pluginFields }
}

function audienceOf(viewer: Viewer, visibility: unknown = 'private', federations: unknown = undefined): Audience {
  if (visibility !== 'private' && visibility !== 'public' && visibility !== 'shared') {
    throw invalidParameter('visibility', visibility, 'private, public or shared')
  }
  const isList = Array.isArray(federations) && federations.every(name => typeof name === 'string')
  if (visibility === 'shared' ? !isList : federations !== undefined) {
    throw invalidParameter('federations', federations, 'a list of names with visibility shared, and nothing otherwise')
  }
  return audience(visibility, viewer.id, (federations as readonly string[] | undefined) ?? [])
}
