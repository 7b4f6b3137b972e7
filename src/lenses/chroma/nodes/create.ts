/** Storing nodes (CQ-123, CQ-124): an entry and its place, in one transaction. */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import { v4Id } from '../../../base/random-id.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { hasStorableTexts } from '../../../base/storable.ts'
import type { EntryDraft, EntryKey } from '../../../model/entry.ts'
import { keptText } from '../../../model/entry-input.ts'
import { anyJson, jsonObjectInput } from '../../../model/json-input.ts'
import { type Audience, audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import type { Camel } from '../camel.ts'
import { nodeIdOf } from '../colour/node-id.ts'
import { invalidParameter } from '../errors.ts'
import { MODE_NAMES } from '../mode-names.ts'
import { hashtagList } from '../model.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { type NodeAspect, writeAspect } from './stored.ts'

export const NODE_KIND = 'node'
export const NODE_COLLECTION = 'chroma'

/** Unicode characters. */
const MAX_LABEL = 500
/** UTF-8 bytes. */
const MAX_CONTENT = 1_048_576

const labelText = z.string().refine(text => lengthOf(text) <= MAX_LABEL, `at most ${MAX_LABEL} characters`)
const contentText = z.string().refine(fits, `at most ${MAX_CONTENT} bytes in UTF-8`).meta({ maxLength: MAX_CONTENT })

/** The texts of a node, and what its writer adds; a node has the first two. */
export const nodeTexts = {
  label: keptText(labelText.meta({ maxLength: MAX_LABEL })).describe('Title, at most 500 characters'),
  content: keptText(contentText).describe('The text, in Markdown or plain, at most 1 MiB in UTF-8'),
  metadata: jsonObjectInput
    .refine(hasStorableTexts, 'texts without NUL and half surrogate pairs')
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

export const newNode = z.strictObject({
  hashtags: hashtagList,
  ...nodeTexts,
  mode_name: modeName.optional().describe(`${modeName.description}. Default: Adaptive (setting memory.default_mode)`),
  plugin_fields: pluginFields.optional(),
  visibility: z
    .enum(['private', 'shared', 'public'])
    .optional()
    .describe('Who may see it beside its holder: nobody, members of federations, everybody. Default: private'),
  federations: z
    .array(z.string())
    .optional()
    .describe(
      'Ids of the federations whose members may see it. Only with visibility shared, where it is required. Default: none',
    ),
  collection: z.string().min(1).optional().describe('Collection of the entry. Default: chroma'),
})
export type NewNode = Camel<ReadonlyDeep<z.input<typeof newNode>>>

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
  given: NewNode,
): Omit<NodeToPut, 'id' | 'now'> & { readonly pluginFields: JsonObject } {
  const { label, content, modeName = state.settings.memory.defaultMode, collection = NODE_COLLECTION } = given
  const metadata = structuredClone(given.metadata ?? null)
  const pluginFields = state.extensions.check(given.pluginFields ?? {})
  const audience = audienceOf(viewer, given)
  const { hashtags, bindings } = state.coordinates.check(given.hashtags)
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

function audienceOf(viewer: Viewer, { visibility = 'private', federations }: NewNode): Audience {
  if ((visibility === 'shared') !== (federations !== undefined)) {
    throw invalidParameter('federations', federations, 'a list of names with visibility shared, and nothing otherwise')
  }
  return audience(visibility, viewer.id, federations ?? [])
}

/** In Unicode characters. Stops counting where it is too long anyway. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_LABEL ? text.length : [...text].length
}

function fits(text: string): boolean {
  return text.length <= MAX_CONTENT && Buffer.byteLength(text) <= MAX_CONTENT
}
