/** What putting, superseding and deleting share. Each act is one transaction: no reader ever meets half a version link. */
import type { Instant } from '../../../base/clock.ts'
import type { Steps, Turns } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { isFederationName } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { writeMany } from '../../../pipeline/write-many.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { modelOf } from '../embedding.ts'
import { type BeliefsError, faulty } from '../errors.ts'
import { BELIEFS, VERSIONS } from '../tables.ts'
import { currentOf } from './current.ts'
import { timedId } from './timed-id.ts'
import {
  aspectRow,
  type CurrentBelief,
  chunkOf,
  entryOf,
  pastVersion,
  type StoredVersion,
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
  const newId = () => timedId(now, bytes => host.random(bytes))
  return { writer, holder, now, model: modelOf(host), newId }
}

/** The holder's current version of this id. Throws for all others, whoever holds them; `path` names the id's field. */
export function mustHold({ writer, holder }: WriteContext, id: string, path: string): CurrentBelief {
  const current = currentOf(writer, holder, id)
  if (current !== undefined) return current
  const past = writer.table(VERSIONS).get({ holder, id })
  throw past === undefined ? notHeld(path) : replaced(path, pastVersion(past))
}

/** Makes it current. Its id must be new to the holder; what ids others use is neither asked nor told. */
export function addCurrent({ writer, holder, now }: WriteContext, version: StoredVersion, path = ''): EntryKey {
  checkFederations(version, path)
  const isPast = writer.table(VERSIONS).get({ holder, id: version.id }) !== undefined
  const { key, created } = writer.put(entryOf(version, now), [chunkOf(version)])
  // What replaced an entry of the holder's goes back with the whole transaction.
  if (isPast || !created) throw taken(version.id, path)
  writer.table(BELIEFS).put(aspectRow(version, key))
  return key
}

/** Moves a current version to the past, with its vector if it has one. */
export function retire(
  context: WriteContext,
  { entry, version }: CurrentBelief,
  supersededBy: string,
): VersionVector | null {
  const { writer, now } = context
  const embedded = vectorOf(context, entry.key)
  writer.table(VERSIONS).put(versionRow({ ...version, supersededBy }, now, embedded))
  writer.delete(entry.key)
  return embedded
}

/** A row of the past under an id that is new to the holder. */
export function addPast({ writer, holder, now }: WriteContext, version: StoredVersion): void {
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

function notHeld(path: string): BeliefsError {
  const constraint = 'the id of a belief that you hold'
  return faulty([{ code: 'INVALID_QUERY', path, constraint, reason: 'not_found', value: null }])
}

function replaced(path: string, { id, supersededBy }: StoredVersion): BeliefsError {
  const constraint =
    supersededBy === null ? 'a belief that is not deleted' : `the version that follows, ${supersededBy}`
  return faulty([{ code: 'INVALID_QUERY', path, constraint, reason: 'superseded', value: id }])
}

/** Names that no federation can have would fit in no partition. */
function checkFederations({ federationIds }: StoredVersion, before: string): void {
  const at = federationIds.findIndex(name => !isFederationName(name))
  if (at === -1) return
  const constraint = 'the id of a federation: 1 to 200 characters without blanks, colons and commas'
  const path = `${before}federation_ids[${at}]`
  throw faulty([{ code: 'INVALID_QUERY', path, constraint, reason: 'malformed', value: federationIds[at] ?? null }])
}

function taken(id: string, path = ''): BeliefsError {
  const constraint = 'an id that you have not used before'
  return faulty([{ code: 'INVALID_QUERY', path: `${path}id`, constraint, reason: 'taken', value: id }])
}
