/**
 * Putting, superseding and deleting (BQ-003): a version never changes, and the end of a belief is a last one without content. Each act is
 * one transaction: no reader ever meets half a version link. What the ids among the sources of a version mean to its writer, who may not
 * see all there is, is settled when it is written (BQ-097, BQ-111).
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
  /** Who writes: it writes its own beliefs and no others. */
  readonly holder: string
  readonly now: Instant
  /** Key of the embedder's model; null: there is none. */
  readonly model: string | null
  newId(): string
}

/**
 * All of the acts or none. Returns when it is written; who wants the vectors as well waits for `host.embedded`. `now`:
 * the one reading of the clock of the request.
 */
export function writeBeliefs<T>(
  host: LensHost,
  holder: string,
  now: Instant,
  act: (context: WriteContext) => T,
): Promise<T> {
  return host.store.writeWhenFree(now, writer => act(contextOf(host, holder, now, writer)))
}

/** The same for a number of acts, a step each. Rejects with what `turns` end them with; then nothing is written. */
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

/** The holder's current version of this id. Throws for all others, whoever holds them; `path` names the id's field. */
function requireHeld({ writer, holder }: WriteContext, id: string, path: string): CurrentBelief {
  const current = currentOf(writer, holder, id)
  if (current !== undefined) return current
  const past = writer.table(VERSIONS).get({ holder, id })
  if (past === undefined) throw notHeld(writer, holder, id, path)
  const { supersededBy: next } = pastVersion(past)
  const constraint = next === null ? 'a belief that is not deleted' : `the version that follows, ${next}`
  throw wrong(path, constraint, 'superseded', id)
}

/** Makes it current. Its id must be new to the holder; ids of other holders are not looked at. */
function addCurrent({ writer, holder, now }: WriteContext, version: StoredVersion, path = ''): EntryKey {
  checkFederations(version, path)
  const isPast = writer.table(VERSIONS).get({ holder, id: version.id }) !== undefined
  const { key, created } = writer.put(entryOf(version, now), [chunkOf(version)])
  // What replaced an entry of the holder's goes back with the whole transaction.
  if (isPast || !created) throw taken(version.id, path)
  writer.table(BELIEFS).put(aspectRow(version, key))
  return key
}

/** Moves a current version to the past, with its vector if it has one. */
function retire(context: WriteContext, { entry, version }: CurrentBelief, supersededBy: string): VersionVector | null {
  const { writer, now } = context
  const embedded = vectorOf(context, entry.key)
  writer.table(VERSIONS).put(versionRow({ ...version, supersededBy }, now, embedded))
  writer.delete(entry.key)
  return embedded
}

/** A row of the past under an id that is new to the holder. */
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

/** Names that no federation can have would fit in no partition. */
function checkFederations({ federationIds }: StoredVersion, before: string): void {
  const at = federationIds.findIndex(name => !isFederationName(name))
  if (at === -1) return
  const constraint = 'the id of a federation: 1 to 200 characters without blanks, colons and commas'
  throw wrong(`${before}federation_ids[${at}]`, constraint, 'malformed', federationIds[at] ?? null)
}

function taken(id: string, path = ''): BeliefsError {
  return wrong(`${path}id`, 'an id that you have not used before', 'taken', id)
}

/** Holders by id of all beliefs that the same call stores. */
export type Together = ReadonlyMap<string, string>

/** `self`: the id of the version that it is of, which may name itself. */
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
 * Of several holders' with this id: the writer's, whether it is current or not, else the oldest current one that the writer
 * may see, else one of the past. Null: there is none, or none that the writer may see, which are one.
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
  // Of one moment, what was written first: a name that sorts low takes nothing over.
  const [oldest] = current.sort((a, b) => a.createdAt - b.createdAt || a.key - b.key)
  if (oldest !== undefined) return oldest.holder
  const past = writer.table(VERSIONS).scan({ id }, { columns: ['holder', 'chain'] })
  const seen = past.find(row => {
    const history = historyOf({ reader: writer, requester }, row['holder'] as string, row['chain'] as string)
    return history.some(({ version }) => version.id === id)
  })
  return (seen?.['holder'] as string | undefined) ?? null
}

/** Other entries may have the id of a belief. */
function currentBeliefs({ writer }: WriteContext, entries: readonly EntryKey[]): readonly EntryKey[] {
  if (entries.length === 0) return []
  return writer
    .table(BELIEFS)
    .scan({}, { entries, columns: ['entry'] })
    .map(row => row['entry'] as EntryKey)
}

/** One an act: what the writer's own act makes visible is its own, and found by `together`. */
const requesterOf = onePer(({ writer, holder }: WriteContext) => new Requester(writer, holder))

/** All at once: their sources may name each other, in whatever order they come. `isMany`: they came as a list. */
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

/** `path`: what faults that the store finds begin with. */
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

/** What a draft says of a version. */
function contentsOf({ id: _, ...contents }: BeliefDraft): Omit<BeliefDraft, 'id'> {
  return contents
}

/** What it was derived from stays what it was where the revision does not say it again. Throws where `belief_id` is not the current version of a belief that the writer holds. */
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
    // Sources that are not given again name the holders that they named.
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

/** Returns the tombstone. Throws where this is not the current version of a belief that the writer holds. */
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
