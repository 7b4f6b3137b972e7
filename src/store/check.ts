/**
 * What every store refuses before it writes or searches, so that all of them refuse the same. Only what would be stored
 * wrongly or misunderstood in silence is checked here; limits of requests are the interfaces' business.
 *
 * Text must be storable (`base/storable.ts`), that is well-formed Unicode without NUL. Who reads text from outside
 * repairs it first with `storableText`.
 */
import { canonicalJson, type Json, type JsonObject } from '../base/canonical.ts'
import { isStorable } from '../base/storable.ts'
import type { AccessState, ChunkDraft, EntryDraft } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { Filter, Scalar } from '../model/filter.ts'
import { MAX_DEPTH, MAX_ID_LENGTH } from '../model/limits.ts'
import { type Audience, audience } from '../model/partition.ts'
import type { Viewer } from '../model/viewer.ts'

/** Most comparisons and compared values of one filter together. */
const MAX_FILTER_PARTS = 10_000

/** The draft as every store keeps it: tags distinct in the order given, federations sorted, metadata without -0. */
export interface SoundDraft extends EntryDraft {
  /** Canonical; equal metadata is equal text. */
  readonly metadataJson: string
}

export function soundDraft(draft: EntryDraft, chunks: readonly ChunkDraft[]): SoundDraft {
  if (draft.id.length < 1 || draft.id.length > MAX_ID_LENGTH) {
    throw invalidArgument('id', draft.id, `1 to ${MAX_ID_LENGTH} characters`)
  }
  for (const field of ['id', 'collection', 'kind', 'title', 'content', 'origin'] as const) {
    checkText(field, draft[field] ?? '')
  }
  for (const tag of draft.tags) checkText('tags', tag)
  for (const field of ['createdAt', 'updatedAt', 'knownAt'] as const) checkInstant(field, draft[field])
  if (draft.validFrom !== null) checkInstant('validFrom', draft.validFrom)
  if (draft.validUntil !== null) checkInstant('validUntil', draft.validUntil)
  checkJson('metadata', draft.metadata, 0)
  for (const chunk of chunks) checkChunk(chunk, draft.content.length)

  const metadataJson = canonicalJson(draft.metadata)
  return {
    ...draft,
    tags: [...new Set(draft.tags)],
    audience: soundAudience(draft.audience),
    metadata: JSON.parse(metadataJson) as JsonObject,
    metadataJson,
  }
}

/** The audience with its federations sorted. */
export function soundAudience(given: Audience): Audience {
  const federations = given.kind === 'shared' ? given.federations : []
  for (const name of [given.holder, ...federations]) checkText('audience', name)
  return audience(given.kind, given.holder, federations, given.kind === 'shared' && given.masked === true)
}

/** How a partition is named. All public entries share one, so it names no holder of them but the owner. */
export function audienceOfPartition(sound: Audience): Audience {
  return sound.kind === 'public' ? audience('public') : sound
}

/** Refuses a vector that differs in length from the model's others (`dimensions`, undefined for the first). */
export function checkVector(model: string, vector: Float32Array, dimensions: number | undefined): void {
  const right = dimensions === undefined ? vector.length > 0 : vector.length === dimensions
  if (!right) throw invalidArgument(`vector of ${model}`, vector.length, `${dimensions ?? 'some'} dimensions`)
}

export function checkAccess(viewer: Viewer, state: AccessState): void {
  checkText('viewer', viewer.id)
  checkInstant('lastAccessed', state.lastAccessed)
  if (!Number.isSafeInteger(state.count) || state.count < 0) throw invalidArgument('count', state.count, '0 or more')
  if (!Number.isFinite(state.strength) || state.strength < 0) {
    throw invalidArgument('strength', state.strength, '0 or more')
  }
}

/** Refuses a filter that is nested too deeply, too large, or compares with text that cannot be stored. */
export function checkFilter(filter: Filter): void {
  let left = MAX_FILTER_PARTS
  const visit = (node: Filter, depth: number): void => {
    if (depth > MAX_DEPTH) throw tooLarge('filter depth', depth, MAX_DEPTH)
    const values = scalarsOf(node)
    left -= 1 + values.length
    if (left < 0) throw tooLarge('filter', MAX_FILTER_PARTS - left, MAX_FILTER_PARTS)
    for (const value of values) if (typeof value === 'string') checkText('filter', value)
    if ('field' in node) checkText('filter', node.field)
    else for (const part of node.op === 'not' ? [node.of] : node.of) visit(part, depth + 1)
  }
  visit(filter, 1)
}

export function checkText(field: string, text: string): void {
  if (!isStorable(text)) throw invalidArgument(field, text.slice(0, 80), 'well-formed Unicode without NUL')
}

export function checkInstant(field: string, value: number): void {
  if (!Number.isSafeInteger(value)) throw invalidArgument(field, value, 'an instant: whole milliseconds since 1970')
}

function scalarsOf(node: Filter): readonly Scalar[] {
  switch (node.op) {
    case 'in':
      return node.values
    case 'contains':
      return [node.text]
    case 'and':
    case 'or':
    case 'not':
    case 'exists':
      return []
    default:
      return [node.value]
  }
}

function checkJson(path: string, value: Json | undefined, depth: number): void {
  if (depth > MAX_DEPTH) throw tooLarge('metadata depth', depth, MAX_DEPTH)
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidArgument(path, value, 'a finite number')
  if (!['string', 'number', 'boolean', 'object'].includes(typeof value)) throw invalidArgument(path, value, 'JSON')
  if (typeof value === 'string') checkText(path, value)
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    checkText(path, key)
    checkJson(`${path}.${key}`, item as Json, depth + 1)
  }
}

function checkChunk(chunk: ChunkDraft, length: number): void {
  const { start, end } = chunk
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || end > length) {
    throw invalidArgument('chunk', `${start} to ${end}`, `a span within the content's ${length} units`)
  }
  for (const line of [chunk.startLine, chunk.endLine]) {
    if (!Number.isSafeInteger(line)) throw invalidArgument('chunk line', line, 'a whole number')
  }
  for (const heading of chunk.headings) checkText('headings', heading)
  if (chunk.lead !== undefined) checkText('lead', chunk.lead)
  const { shownFrom = 0 } = chunk
  if (!Number.isSafeInteger(shownFrom) || shownFrom < 0 || shownFrom > end - start)
    throw invalidArgument('shownFrom', shownFrom, 'a place within the chunk')
  for (const { at, headings } of chunk.sections ?? []) {
    if (!Number.isSafeInteger(at) || at < 0) throw invalidArgument('section', at, 'a place within the chunk')
    for (const heading of headings) checkText('sections', heading)
  }
}

function tooLarge(field: string, value: number, limit: number): QuerentError {
  return new QuerentError('too_large', `${field}: at most ${limit}, got ${value}`, { field, value, limit })
}
