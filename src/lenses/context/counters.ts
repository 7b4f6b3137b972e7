/**
 * Named values of the lens `context`, in one table: which of its two parts exist, body (files and texts) and mind (concepts and links);
 * counters of the numbers by which callers name concepts and links (decision 033); and the revision of the indexer's data.
 *
 * Numbers that a viewer sees must not reveal anything about what it cannot see, so each audience has a sequence of numbers of its own. A
 * number is `sequence * 2^32 + count`; the local owner's sequence is 0, so the owner's numbers are 1, 2, 3. Within a sequence numbers
 * ascend, and none is given twice, even after deletions.
 */
import { sha256 } from '../../base/canonical.ts'
import { type Audience, audience, partitionKey } from '../../model/partition.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { refusal } from './envelope.ts'
import { STATE } from './tables.ts'

export function counter(reader: StoreReader, name: string): number | undefined {
  return reader.table(STATE).get({ name })?.['value'] as number | undefined
}

export function setCounter(writer: StoreWriter, name: string, value: number): void {
  writer.table(STATE).put({ name, value })
}

export type Numbered = 'concept' | 'edge'

const RANGE = 2 ** 32
/** Largest number of sequences. With 2^32 numbers in each, every number stays within the integers that a double holds exactly (2^53). */
const SEQUENCES = 2 ** 21
const SALT = 'numbering_salt'

const OWN = partitionKey(audience('private'))

/**
 * The number sequence for concepts or links that exactly these audiences see. Two groups of audiences may share a sequence (chance 1 in
 * 2^21): numbers stay unique, but each group then learns how many numbers the other was given. A random salt prevents anybody from choosing
 * a name that collides on purpose.
 */
export function sequenceOf(reader: StoreReader, audiences: readonly Audience[]): number {
  const keys = [...new Set(audiences.map(partitionKey))].sort()
  if (keys.every(key => key === OWN)) return 0
  const salted = [counter(reader, SALT) ?? 0, ...keys].join('\n')
  return 1 + (Number.parseInt(sha256(salted).slice(0, 13), 16) % (SEQUENCES - 1))
}

/** Reserves `count` consecutive numbers of a sequence for concepts or links, and returns the first. */
export function nextNumbers(writer: StoreWriter, of: Numbered, count: number, sequence = 0): number {
  const name = counterName(of, sequence)
  const next = counter(writer, name) ?? 1
  setCounter(writer, name, next + count)
  return sequence * RANGE + next
}

export function counterName(of: Numbered, sequence: number): string {
  return sequence === 0 ? `next_${of}` : `next_${of} ${sequence}`
}

/** Splits the number of a concept or link into its sequence and its count within the sequence. */
export function placeOf(number: number): { readonly sequence: number; readonly count: number } {
  return { sequence: Math.floor(number / RANGE), count: number % RANGE }
}

/** Stores the random salt by which audiences are assigned to number sequences; a store gets it once. */
function saltNumbers(writer: StoreWriter, random: (bytes: number) => Uint8Array): void {
  if (counter(writer, SALT) === undefined) setCounter(writer, SALT, Buffer.from(random(6)).readUIntBE(0, 6))
}

export type Part = 'body' | 'mind'

const NOT_THERE: Readonly<Record<Part, string>> = {
  body: 'body not initialized (call /body/init)',
  mind: 'mind not initialized (call /mind/init)',
}

export function isInitialised(reader: StoreReader, part: Part): boolean {
  return reader.table(STATE).get({ name: part }) !== undefined
}

/**
 * Creates a part of the store (`body` or `mind`); returns false when it exists already. `random` makes the salt of the number sequences
 * where the store has none yet.
 */
export function initialise(writer: StoreWriter, part: Part, random?: (bytes: number) => Uint8Array): boolean {
  if (random !== undefined) saltNumbers(writer, random)
  if (isInitialised(writer, part)) return false
  writer.table(STATE).put({ name: part, value: 1 })
  return true
}

/** Throws `Refusal` with code `not_initialized` when one of these parts of the store (`body`, `mind`) does not exist. */
export function assertInitialised(reader: StoreReader, ...parts: readonly Part[]): void {
  for (const part of parts) if (!isInitialised(reader, part)) throw refusal(part, 'not_initialized', NOT_THERE[part])
}

/** Path of the store's file, shown only to the owner; null for other viewers, who must not learn names of folders on the machine. */
export function storePath({ host, viewer }: { readonly host: LensHost; readonly viewer: Viewer }): string | null {
  return isOwner(viewer) ? (host.workspace?.storeFile ?? ':memory:') : null
}

const REVISION = 'index_revision'
/**
 * Name of a stored value that is 1 while an indexing run writes. When it is 1 and no run is active, a run was interrupted, so the next run
 * must compare all data.
 */
const UNFINISHED = 'index_unfinished'

export function revisionOf(reader: StoreReader): number {
  return counter(reader, REVISION) ?? 0
}

export function isUnfinished(reader: StoreReader): boolean {
  return (counter(reader, UNFINISHED) ?? 0) > 0
}

/**
 * Begins a new revision of the indexer's data and returns its number. It is also called when files are deleted outside an indexing run, so
 * that the next run compares all files.
 */
export function beginRevision(writer: StoreWriter): number {
  const revision = revisionOf(writer) + 1
  setCounter(writer, REVISION, revision)
  setCounter(writer, UNFINISHED, 1)
  return revision
}

export function endRevision(writer: StoreWriter): void {
  setCounter(writer, UNFINISHED, 0)
}

/**
 * Increases the revision number of the indexer's data. Called when concepts are deleted outside an indexing run, so that graphs of concepts
 * kept in memory are dropped.
 */
export function changeRevision(writer: StoreWriter): void {
  setCounter(writer, REVISION, revisionOf(writer) + 1)
}
