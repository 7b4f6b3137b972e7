/**
 * Saves any index to a file and takes it back, so that opening a store need not read all of it. A snapshot is a cache:
 * whatever is wrong with the file, loading says why and the caller rebuilds the index from the store.
 */
import { closeSync, openSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { StoreReader } from '../store/store.ts'
import type { Index } from './contract.ts'
import { readHeader, readPayload, type SnapshotHeader, writeSnapshot } from './snapshot-file.ts'

/** What of a store tells whether a snapshot belongs to it and to its past. */
export type SnapshotStore = Pick<StoreReader, 'storeId' | 'lastSeq' | 'changesSince'>

/**
 * Why a snapshot was not taken: no file; cut short or bits changed; written by another version, for another store or
 * another index; from a later state than the store's, or from another past (a backup was put back); not understood by
 * the index; not readable.
 */
export type SnapshotProblem =
  | 'missing'
  | 'damaged'
  | 'other_format'
  | 'other_store'
  | 'other_index'
  | 'ahead_of_store'
  | 'other_past'
  | 'refused'
  | 'unreadable'

export type SnapshotLoad = { readonly ok: true } | { readonly ok: false; readonly reason: SnapshotProblem }

/**
 * Writes the index's state to `path`: all of it or nothing, also if the process or the machine stops meanwhile. One
 * process at a time may save one path (the engine's lease sees to it). Throws `io_failed` when the disk refuses.
 */
export function saveSnapshot(path: string, index: Index, store: SnapshotStore): void {
  atOnce(saveInSteps(path, index, store))
}

/** Bytes summed up, or written, in one step: a few milliseconds. */
const BYTES_AT_ONCE = 1 << 22

/** The same in steps, between which the index must not change. Who does not go on must end the generator (`return`). */
export function* saveInSteps(path: string, index: Index, store: SnapshotStore): Steps<void> {
  if (index.letGo !== undefined) yield* index.letGo()
  let pieces = index.serialise()
  const lengthOf = () => pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  const length = lengthOf()
  function* each(visit: (piece: Uint8Array) => void): Steps<void> {
    const pace = new StepPace(BYTES_AT_ONCE)
    for (let at = 0; at < pieces.length; at++) {
      const size = (pieces[at] as Uint8Array).byteLength
      for (let from = 0; from < size; from += BYTES_AT_ONCE) {
        const piece = (pieces[at] as Uint8Array).subarray(from, from + BYTES_AT_ONCE)
        visit(piece)
        if (!pace.isOver(piece.byteLength)) continue
        yield
        // Views of a memory that grew meanwhile are empty.
        if (lengthOf() !== length) pieces = index.serialise()
      }
    }
  }
  let crc = 0
  yield* each(piece => {
    crc = crc32(piece, crc)
  })
  const header: SnapshotHeader = {
    store: store.storeId,
    index: index.name,
    position: index.position,
    change: changeAt(store, index.position),
    length,
    crc,
  }
  try {
    yield* writeSnapshot(path, header, each)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new QuerentError('io_failed', `cannot save the index snapshot ${path}: ${why}`, { path, cause: why }, cause)
  }
}

/** Restores the index from `path`. Never throws for a bad file; then the index is as its `restore` left it. */
export function loadSnapshot(path: string, index: Index, store: SnapshotStore): SnapshotLoad {
  return atOnce(loadInSteps(path, index, store))
}

/** The same in steps. The file is open between them: who does not go on must end the generator (`return`). */
export function* loadInSteps(path: string, index: Index, store: SnapshotStore): Steps<SnapshotLoad> {
  const opened = openSnapshot(path, index, store)
  if (typeof opened === 'string') return no(opened)
  const { file, header } = opened
  try {
    const payload = yield* readPayload(file, header)
    if (payload === null) return no('damaged')
    return yield* restore(index, payload, header.position)
  } catch {
    return no('unreadable')
  } finally {
    closeSync(file)
  }
}

/** The feed position of the snapshot at `path`, read off its header; 0 when there is none that the index could take. */
export function snapshotPosition(path: string, index: Index, store: SnapshotStore): number {
  const opened = openSnapshot(path, index, store)
  if (typeof opened === 'string') return 0
  closeSync(opened.file)
  return opened.header.position
}

/** The feed position of a snapshot of this store, of whatever index; null when it is none. Never throws. */
export function positionOfSnapshot(path: string, storeId: string): number | null {
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const header = readHeader(file)
    return typeof header !== 'string' && header.store === storeId ? header.position : null
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** The file, to be closed, read as far as its header. */
function openSnapshot(
  path: string,
  index: Index,
  store: SnapshotStore,
): { file: number; header: SnapshotHeader } | SnapshotProblem {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable'
  }
  const found = headerFor(file, index, store)
  if (typeof found !== 'string') return { file, header: found }
  closeSync(file)
  return found
}

function headerFor(file: number, index: Index, store: SnapshotStore): SnapshotHeader | SnapshotProblem {
  try {
    const header = readHeader(file)
    if (typeof header === 'string') return header
    if (header.store !== store.storeId) return 'other_store'
    if (header.index !== index.name) return 'other_index'
    if (header.position > store.lastSeq()) return 'ahead_of_store'
    return header.change === changeAt(store, header.position) ? header : 'other_past'
  } catch {
    return 'unreadable'
  }
}

/** Null at the beginning, and where the feed was cut. */
function changeAt(store: SnapshotStore, seq: number): string | null {
  const [change] = seq === 0 ? [] : store.changesSince(seq - 1, 1)
  return change?.seq === seq ? [change.entry, change.kind, change.partition, change.at].join(' ') : null
}

function* restore(index: Index, payload: Uint8Array, position: number): Steps<SnapshotLoad> {
  try {
    if (index.restoreInSteps === undefined) index.restore(payload, position)
    else yield* index.restoreInSteps(payload, position)
    return { ok: true }
  } catch {
    return no('refused')
  }
}

function no(reason: SnapshotProblem): SnapshotLoad {
  return { ok: false, reason }
}
