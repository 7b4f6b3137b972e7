/**
 * Writes and reads entries for a viewer: a viewer can write only entries of its own and read only visible ones; all others appear not to
 * exist.
 */

import { canonicalJson, v4Id } from '../base/canonical.ts'
import type { Clock, Instant } from '../base/clock.ts'
import { atOnce, type Steps, type Turns } from '../base/turns.ts'
import { modelKey } from '../embed/embedder.ts'
import { keepSeen } from '../ingest/known-files.ts'
import type { LensRegistry } from '../lenses/registry.ts'
import type { ChunkDraft, Entry, EntryDraft, EntryKey } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import { toInstant } from '../model/instant.ts'
import type { CallContext } from '../model/operation.ts'
import { type Audience, audience, type PartitionId } from '../model/partition.ts'
import { type AccessScope, isOwner, type Viewer } from '../model/viewer.ts'
import { aroundDamage, writeMany } from '../pipeline/many-rows.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import { FILE_LINKS } from '../store/core-tables.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import { chunkContent, chunkContentInSteps } from '../text/chunk.ts'
import type { PutInput } from './engine.ts'
import { requireVisible } from './listing.ts'
import type { Parts } from './parts.ts'

interface PutSummary {
  readonly ids: readonly string[]
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/**
 * Number of UTF-16 units of content up to which entries are cut into chunks and written without a pause. For longer content, cutting is
 * done before the write transaction with pauses, and the transaction pauses too.
 */
const CUT_AT_ONCE = 1 << 16
/**
 * Fixed cost of one entry in addition to its content, counted as this many UTF-16 units when it is decided whether to write without a
 * pause.
 */
const EACH = 512

interface EntryParts {
  readonly store: Store
  readonly registry: LensRegistry
  readonly clock: Clock
  random(bytes: number): Uint8Array
}

/** Writes all of the given entries in one transaction, or none of them if one is refused. */
export async function putEntries(
  { store, registry, clock, random }: EntryParts,
  inputs: readonly PutInput[],
  viewer: Viewer,
  turns: Turns,
): Promise<PutSummary> {
  const length = inputs.reduce((sum, { content }) => sum + content.length + EACH, 0)
  const cut = length > CUT_AT_ONCE ? await turns.run(cutInSteps(inputs)) : null
  const now = clock.now()
  const write = function* (writer: StoreWriter): Steps<PutSummary> {
    const counts = { created: 0, updated: 0, unchanged: 0 }
    const ids: string[] = []
    for (const [i, input] of inputs.entries()) {
      const id = input.id ?? v4Id(random)
      ids.push(id)
      const before = own(writer, id, viewer)
      const of = audienceOf(input, before, viewer, `entries.${i}`)
      const draft = draftOf(input, id, of, before, now, `entries.${i}`)
      if (before !== undefined && sameDraft(before, draft)) {
        counts.unchanged++
        continue
      }
      yield
      const chunks = cut?.[i] ?? chunkContent(draft.content, { format: 'markdown' })
      const afterWrite = registry.beforeWrite(writer, before === undefined ? [] : [before.key])
      counts[(yield* writer.putInSteps(draft, chunks)).created ? 'created' : 'updated']++
      // Deletes the entry's links, because they came from a file that is no longer the origin of the entry.
      if (before !== undefined) writer.table(FILE_LINKS).delete({ entry: before.key })
      afterWrite()
    }
    return { ids, ...counts }
  }
  return registry.withLensesLoaded(() =>
    cut === null ? store.writeWhenFree(now, writer => atOnce(write(writer))) : store.writeInSteps(now, write, turns),
  )
}

function* cutInSteps(inputs: readonly PutInput[]): Steps<readonly (readonly ChunkDraft[])[]> {
  const cut: (readonly ChunkDraft[])[] = []
  for (const { content } of inputs) cut.push(yield* chunkContentInSteps(content, { format: 'markdown' }))
  return cut
}

/**
 * Deletes all of the given entries, or none of them. An id that does not exist or is hidden from the viewer gives `not_found`; an entry
 * that the viewer sees but does not hold gives `denied`.
 */
export function deleteEntries(
  { store, registry, clock }: Pick<EntryParts, 'store' | 'registry' | 'clock'>,
  ids: readonly string[],
  accessScope: AccessScope,
  turns: Turns,
): Promise<number> {
  const wanted = new Set(ids)
  const act = function* (writer: StoreWriter): Steps<number> {
    const gone: EntryKey[] = []
    for (const id of wanted) {
      const damaged = isOwner(accessScope.viewer) ? damagedOne(writer, id, accessScope) : undefined
      gone.push(damaged ?? requireHeld(writer, id, accessScope).key)
      yield
    }
    const afterWrite = registry.beforeWrite(writer, gone)
    for (const key of gone) {
      keepSeen(writer, key, accessScope.viewer.id)
      writer.delete(key)
      yield
    }
    afterWrite()
    return wanted.size
  }
  return registry.withLensesLoaded(() => writeMany(store, clock.now(), wanted.size, act, turns))
}

function requireHeld(reader: StoreReader, id: string, accessScope: AccessScope): Entry {
  const entry = requireVisible(reader, id, accessScope)
  if (mayWrite(entry, accessScope.viewer)) return entry
  throw new QuerentError('denied', `ids: ${id} is held by ${entry.audience.holder}; only its holder may delete it`, {
    id,
  })
}

/**
 * Key of the entry with this id whose stored data is damaged, so that the entry can be deleted although it cannot be read. Undefined if the
 * viewer's partitions (parts of the store with equal access) contain a readable entry with this id.
 */
function damagedOne(reader: StoreReader, id: string, accessScope: AccessScope): EntryKey | undefined {
  const keys = reader.find(id, accessScope.partitions)
  let isDamaged = false
  const note = () => {
    isDamaged = true
  }
  const readable = reader.around(note, () => reader.entries(keys))
  return isDamaged && readable.length === 0 ? keys[0] : undefined
}

/** Whether the viewer may write the entry: its holder may, and so may the local owner, to whom the store belongs. */
function mayWrite(entry: Entry, viewer: Viewer): boolean {
  return isOwner(viewer) || entry.audience.holder === viewer.id
}

function own(reader: StoreReader, id: string, viewer: Viewer): Entry | undefined {
  const everywhere = reader.partitions().map(partition => partition.id)
  // An entry whose stored data is damaged counts as missing here, so that writing it again replaces it.
  const entries = aroundDamage(reader, () => reader.entries(reader.find(id, everywhere)))
  return entries.find(entry => entry.audience.holder === viewer.id)
}

/** The audience of an entry that is written: as the input says, otherwise that of the existing entry; a new entry is private by default. */
function audienceOf(input: PutInput, before: Entry | undefined, viewer: Viewer, field: string): Audience {
  const { visibility, federations } = input
  if (visibility !== 'shared' && federations !== undefined) {
    throw invalidArgument(`${field}.federations`, federations, 'no federations unless visibility is shared')
  }
  if (visibility === undefined && before !== undefined) return before.audience
  return audience(visibility ?? 'private', viewer.id, federations ?? [])
}

function draftOf(
  input: PutInput,
  id: string,
  of: Audience,
  before: Entry | undefined,
  now: Instant,
  field: string,
): EntryDraft {
  const { content } = input
  const validFrom = optionalInstant(input.valid_from, `${field}.valid_from`)
  const validUntil = optionalInstant(input.valid_until, `${field}.valid_until`)
  if (validFrom !== null && validUntil !== null && validUntil <= validFrom) {
    throw invalidArgument(`${field}.valid_until`, input.valid_until, 'a time after valid_from')
  }
  return {
    id,
    collection: input.collection ?? before?.collection ?? 'notes',
    kind: input.kind ?? before?.kind ?? 'note',
    title: input.title ?? firstLine(content),
    content,
    tags: [...new Set(input.tags ?? [])],
    metadata: input.metadata ?? {},
    audience: of,
    origin: input.origin ?? null,
    createdAt: optionalInstant(input.created_at, `${field}.created_at`) ?? before?.createdAt ?? now,
    updatedAt: now,
    validFrom,
    validUntil,
    knownAt: before !== undefined && before.content === content ? before.knownAt : now,
  }
}

function optionalInstant(value: string | number | undefined, field: string): Instant | null {
  return value === undefined ? null : toInstant(value, field)
}

/**
 * The default title of an entry: the first line of its content that is not blank, without Markdown heading marks, cut at 120 characters.
 */
function firstLine(content: string): string {
  const line = content.split('\n', 50).find(candidate => candidate.trim() !== '') ?? ''
  const text = line.replace(/^#+\s+/, '').trim()
  return text.length > 120 ? `${text.slice(0, 119).toWellFormed()}…` : text
}

function sameDraft(before: Entry, draft: EntryDraft): boolean {
  // Content is compared first and on its own, because it may be too long to serialise for a comparison.
  if (before.content !== draft.content) return false
  const fields = (entry: EntryDraft): string =>
    canonicalJson([
      entry.collection,
      entry.kind,
      entry.title,
      entry.tags,
      entry.metadata,
      { ...entry.audience },
      entry.origin,
      entry.createdAt,
      entry.validFrom,
      entry.validUntil,
    ])
  return fields(before) === fields(draft)
}

export class NewVectors {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Number of chunks in these partitions that have no vector of the current embedding model; 0 if there is no embedder. */
  pending(partitions: readonly PartitionId[]): number {
    const { store, embedder } = this.#parts
    if (embedder === null) return 0
    return store.countChunks(partitions) - store.countVectors(modelKey(embedder.model), partitions)
  }

  /**
   * Starts to make the missing vectors; with `wait`, waits until all are made. Returns the error message if that failed, otherwise null.
   * Rejects with `cancelled`.
   */
  async make(wait: boolean, { report, signal }: Pick<CallContext, 'report' | 'signal'>): Promise<string | null> {
    const { embedding, indexes } = this.#parts
    if (!wait) {
      embedding?.start()
      return null
    }
    try {
      await embedding?.settled(signal, report)
      await turnsUntil(signal).run(indexes.getInSteps())
      return null
    } catch (error) {
      if (error instanceof QuerentError && error.code !== 'cancelled') return error.message
      throw error
    }
  }

  /**
   * The reason, in words for the viewer, why chunks that the viewer may see have no vector; null if all have one, or if embedding is still
   * in progress.
   */
  missing({ viewer, partitions }: AccessScope, failure: string | null): string | null {
    if (this.pending(partitions) === 0) return null
    const { count, message } = this.#parts.embedding?.refused(partitions) ?? { count: 0, message: null }
    const refused = message === null ? null : `the embedder refuses ${count === 1 ? 'one text' : `${count} texts`}`
    // Viewers other than the owner do not get the embedder's own message, because it may quote a text that they may not see.
    if (!isOwner(viewer)) return failure === null ? refused : 'the embedder failed'
    return failure ?? (refused === null ? null : `${refused}: ${message}`)
  }
}
