/**
 * Putting, superseding and deleting beliefs (BQ-003). A version never changes; a deletion adds a last version without content, the
 * tombstone. Each of these acts is one transaction, so that no reader sees incomplete links between versions. Source ids are resolved to
 * holders when a version is written, because the writer may not see all beliefs with an id (BQ-097, BQ-111).
 */
import { sha256, v4Id } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { onePer } from '../../../base/recent.ts'
import type { Steps, Turns } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { isFederationName } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { writeMany } from '../../../pipeline/many-rows.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { Requester } from '../access/requester.ts'
import { type BeliefsError, wrong } from '../errors.ts'
import type { Derivation } from '../model.ts'
import { type BeliefDraft, type Revision, revised } from '../schema/belief.ts'
import { modelOf } from '../state.ts'
import { BELIEFS, VERSIONS } from '../tables.ts'
import { currentOf, historyOf, notHeld } from './read.ts'
import {
  aspectRow,
  type CurrentBelief,
  chunkOf,
  entryOf,
  type KeptDerivation,
  pastVersion,
  type StoredVersion,
  sameText,
  type VersionVector,
  versionRow,
} from './version.ts'

export interface WriteContext {
  readonly writer: StoreWriter
  /** The writing agent, who can write only its own beliefs. */
  readonly holder: string
  readonly now: Instant
  /** Identifier of the embedding model in use; null: the engine has no embedder. */
  readonly model: string | null
  newId(): string
}

/**
 * Performs acts of writing (putting, superseding or deleting beliefs) in one transaction, and returns when they are written. To wait for
 * the beliefs' vectors as well, await `host.embedded`. `now`: the time of the request, which is read only once.
 */
export function writeBeliefs<T>(
  host: LensHost,
  holder: string,
  now: Instant,
  act: (context: WriteContext) => T,
): Promise<T> {
  return host.store.writeWhenFree(now, writer => act(contextOf(host, holder, now, writer)))
}

/**
 * Performs many acts of writing in one transaction, with a pause after each so that other work can run. `turns` schedules the pauses; if it
 * throws at one, for example because of a cancellation, that error is thrown and nothing is written.
 */
export function writeManyBeliefs<T>(
  host: LensHost,
  holder: string,
  now: Instant,
  {
    count,
    act,
    turns,
  }: { readonly count: number; readonly act: (context: WriteContext) => Steps<T>; readonly turns: Turns },
): Promise<T> {
  return writeMany(host.store, now, count, writer => act(contextOf(host, holder, now, writer)), turns)
}

function contextOf(host: LensHost, holder: string, now: Instant, writer: StoreWriter): WriteContext {
  const newId = () => v4Id(bytes => host.random(bytes))
  return { writer, holder, now, model: modelOf(host), newId }
}

/**
 * The holder's current version with this id. Throws if the holder has none, even if another holder does. `path`: name of the input field
 * with the id, for the error.
 */
function requireHeld({ writer, holder }: WriteContext, id: string, path: string): CurrentBelief {
  const current = currentOf(writer, holder, id)
  if (current !== undefined) return current
  const past = writer.table(VERSIONS).get({ holder, id })
  if (past === undefined) throw notHeld(writer, holder, id, path)
  const { supersededBy: next } = pastVersion(past)
  const constraint = next === null ? 'a belief that is not deleted' : `the version that follows, ${next}`
  throw wrong(path, constraint, 'superseded', id)
}

/** Stores a version as the current one. Its id must never have been used by this holder; ids of other holders do not matter. */
function addCurrent({ writer, holder, now }: WriteContext, version: StoredVersion, path = ''): EntryKey {
  checkFederations(version, path)
  const isPast = writer.table(VERSIONS).get({ holder, id: version.id }) !== undefined
  const { key, created } = writer.put(entryOf(version, now), [chunkOf(version)])
  // If the put replaced an existing entry of this holder, the error thrown here rolls back the whole transaction.
  if (isPast || !created) throw taken(version.id, path)
  writer.table(BELIEFS).put(aspectRow(version, key))
  return key
}

/** Turns a current version into a past one and returns its vector, if it has one, which is stored with the past version. */
function retire(context: WriteContext, { entry, version }: CurrentBelief, supersededBy: string): VersionVector | null {
  const { writer, now } = context
  const embedded = vectorOf(context, entry.key)
  writer.table(VERSIONS).put(versionRow({ ...version, supersededBy }, now, embedded))
  writer.delete(entry.key)
  return embedded
}

/** Adds the row of a past version. Its id must never have been used by this holder. */
function addPast({ writer, holder, now }: WriteContext, version: StoredVersion): void {
  const key: Row = { holder, id: version.id }
  if (writer.table(VERSIONS).get(key) !== undefined) throw taken(version.id)
  if (currentOf(writer, holder, version.id) !== undefined) throw taken(version.id)
  writer.table(VERSIONS).put(versionRow(version, now, null))
}

function vectorOf({ writer, model }: WriteContext, entry: EntryKey): VersionVector | null {
  if (model === null) return null
  const chunks = writer.chunksOf(entry).map(({ key }) => key)
  const vector = writer.vectorsOnly(model, chunks)[0]?.vector
  return vector === undefined ? null : { model, vector }
}

/** Throws for a federation name that is not valid, because no partition could be named after it. */
function checkFederations({ federationIds }: StoredVersion, before: string): void {
  const at = federationIds.findIndex(name => !isFederationName(name))
  if (at === -1) return
  const constraint = 'the id of a federation: 1 to 200 characters without blanks, colons and commas'
  throw wrong(`${before}federation_ids[${at}]`, constraint, 'malformed', federationIds[at] ?? null)
}

function taken(id: string, path = ''): BeliefsError {
  return wrong(`${path}id`, 'an id that you have not used before', 'taken', id)
}

/** Ids of all beliefs that are stored by one call, each with its holder, so that they can name each other as sources. */
export type Together = ReadonlyMap<string, string>

/**
 * Resolves the sources of a derivation for storage. `self`: id of the version to which the derivation belongs, because a version may name
 * itself as a source.
 */
function keptDerivation(
  context: WriteContext,
  derivation: Derivation,
  self: string,
  together: Together,
): KeptDerivation {
  const named = (id: string) => (id === self ? context.holder : (together.get(id) ?? holderOf(context, id)))
  const sources = derivation.sources.map(source => {
    return { ...source, holder: source.belief_id === null ? null : named(source.belief_id) }
  })
  return { ...derivation, sources }
}

/**
 * Chooses the holder to whose belief an id refers if several holders may have one: the writer, if it has a current or past version with
 * this id; otherwise the holder of the oldest current version visible to the writer; otherwise the holder of a visible past version. Null:
 * the writer sees no version with this id, whether one exists or not.
 */
function holderOf(context: WriteContext, id: string): string | null {
  const { writer, holder } = context
  const requester = requesterOf(context)
  const keys = currentBeliefs(context, writer.find(id, requester.accessScope.partitions))
  const current = writer
    .entries(keys)
    .map(({ key, audience, createdAt }) => ({ key, holder: audience.holder, createdAt }))
  if (current.some(belief => belief.holder === holder)) return holder
  if (writer.table(VERSIONS).count({ holder, id }) > 0) return holder
  // Of versions created in the same millisecond, the one that was written first is chosen; the order of holders' names gives no advantage.
  const [oldest] = current.sort((a, b) => a.createdAt - b.createdAt || a.key - b.key)
  if (oldest !== undefined) return oldest.holder
  const past = writer.table(VERSIONS).scan({ id }, { columns: ['holder', 'chain'] })
  const seen = past.find(row => {
    const history = historyOf({ reader: writer, requester }, row['holder'] as string, row['chain'] as string)
    return history.some(({ version }) => version.id === id)
  })
  return (seen?.['holder'] as string | undefined) ?? null
}

/** The given entries that are beliefs; entries of other kinds may have equal ids. */
function currentBeliefs({ writer }: WriteContext, entries: readonly EntryKey[]): readonly EntryKey[] {
  if (entries.length === 0) return []
  return writer
    .table(BELIEFS)
    .scan({}, { entries, columns: ['entry'] })
    .map(row => row['entry'] as EntryKey)
}

/**
 * Permissions of the writing agent, read once per act (putting, superseding or deleting beliefs). They may lack beliefs that the act itself
 * stores; those belong to the writer and are looked up in `together`.
 */
const requesterOf = onePer(({ writer, holder }: WriteContext) => new Requester(writer, holder))

/**
 * Stores all drafts (complete beliefs as their holder writes them) in one act of writing. The drafts may name each other as sources in any
 * order. `isMany`: whether the request contained a list of beliefs.
 */
export function* putBeliefs(
  context: WriteContext,
  drafts: readonly BeliefDraft[],
  isMany = true,
): Steps<readonly StoredVersion[]> {
  const together = new Map(drafts.flatMap(({ id }) => (id === null ? [] : [[id, context.holder] as const])))
  const put: StoredVersion[] = []
  for (const [at, draft] of drafts.entries()) {
    put.push(putBelief(context, draft, together, isMany ? `beliefs[${at}].` : ''))
    yield
  }
  return put
}

/** `path`: beginning of the field path in the errors that are found while storing. */
export function putBelief(
  context: WriteContext,
  draft: BeliefDraft,
  together: Together = new Map(),
  path = '',
): StoredVersion {
  const { holder, now } = context
  const id = draft.id ?? context.newId()
  const version: StoredVersion = {
    ...contentsOf(draft),
    derivation: keptDerivation(context, draft.derivation, id, together),
    holder,
    id,
    chain: id,
    version: 1,
    createdAt: now,
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
  addCurrent(context, version, path)
  return version
}

/** Fields of a version that are taken over from the writer's draft: all except the id. */
function contentsOf({ id: _, ...contents }: BeliefDraft): Omit<BeliefDraft, 'id'> {
  return contents
}

/**
 * Supersedes the current version `belief_id` by a revised one. Fields that the revision does not give are taken from the old version.
 * Throws if `belief_id` is not the current version of one of the writer's beliefs.
 */
export function supersedeBelief(
  context: WriteContext,
  revision: Revision,
  together: Together = new Map(),
): StoredVersion {
  const { writer, holder, now } = context
  const old = requireHeld(context, revision.belief_id, 'belief_id')
  const draft = revised(draftOf(old.version, now), revision)
  const id = revision.id ?? context.newId()
  const version: StoredVersion = {
    ...contentsOf(draft),
    // If the revision gives no new sources, the old sources keep the holders to whom they were resolved earlier.
    derivation:
      revision.derivation?.sources === undefined
        ? { ...draft.derivation, sources: old.version.derivation.sources }
        : keptDerivation(context, draft.derivation, id, together),
    holder,
    id,
    chain: old.version.chain,
    version: old.version.version + 1,
    createdAt: now,
    supersedes: old.version.id,
    supersededBy: null,
    deletedAt: null,
  }
  const embedded = retire(context, old, version.id)
  const key = addCurrent(context, version)
  if (embedded !== null && sameText(old.version, version)) {
    const chunks = writer.chunksOf(key)
    writer.putVectors(
      embedded.model,
      chunks.map(chunk => ({ chunk: chunk.key, vector: embedded.vector })),
    )
  }
  return version
}

function draftOf(version: StoredVersion, now: number): BeliefDraft {
  return { ...version, id: null, validFrom: version.validFrom ?? Math.min(version.createdAt, now) }
}

/** Deletes a belief of the writer and returns its tombstone. Throws if the id is not the current version of one of the writer's beliefs. */
export function deleteBelief(context: WriteContext, id: string): StoredVersion {
  const { now } = context
  const old = requireHeld(context, id, 'belief_id')
  const tombstone: StoredVersion = {
    ...old.version,
    id: context.newId(),
    version: old.version.version + 1,
    content: '',
    contentHash: sha256(''),
    validUntil: now,
    createdAt: now,
    supersedes: old.version.id,
    deletedAt: now,
  }
  retire(context, old, tombstone.id)
  addPast(context, tombstone)
  return tombstone
}
