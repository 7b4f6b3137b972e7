/**
 * Saves any index to a file and takes it back, so that opening a store need not read all of it. A snapshot is a cache:
 * whatever is wrong with the file, loading says why and the caller rebuilds the index from the store.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { StoreReader } from '../store/store.ts'
import type { Index } from './contract.ts'

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

// The file of a snapshot: magic (8 bytes), format, header length, CRC-32 of the header (u32 each, little-endian), header
// (JSON), payload.

const MAGIC = new TextEncoder().encode('QUERENT\n')
/** Raised when this layout changes. An index that changes its payload refuses the old one in `restore`. */
const FORMAT = 1
const PREFIX_LENGTH = 20
/** Node reads and writes at most 2 GiB a call. */
const PIECE = 1 << 30

interface SnapshotHeader {
  /** `storeId` of the store, and the name of the index. */
  readonly store: string
  readonly index: string
  readonly position: number
  /** The change at that position, by which a past that was put back from a backup differs from the one that was lost. */
  readonly change: string | null
  /** Of the payload: bytes, and CRC-32. */
  readonly length: number
  readonly crc: number
}

/** Gives bytes piece by piece, in steps. */
type EachPiece = (visit: (piece: Uint8Array) => void) => Steps<void>

/** All of it or nothing, also if the process or the machine stops meanwhile, or the steps are ended. Throws what the disk says. */
function* writeSnapshot(path: string, header: SnapshotHeader, each: EachPiece): Steps<void> {
  // A fixed name: what a killed process left behind is overwritten by the next save.
  const temporary = `${path}.tmp`
  let isWritten = false
  try {
    yield* writeDurably(temporary, header, each)
    yield
    renameSync(temporary, path)
    isWritten = true
    syncFolder(dirname(path))
  } finally {
    if (!isWritten) removeIfPossible(temporary)
  }
}

/** Reads on from the beginning of an open file; the payload follows. */
function readHeader(file: number): SnapshotHeader | 'damaged' | 'other_format' {
  const size = fstatSync(file).size
  const prefix = size < PREFIX_LENGTH ? undefined : readBytes(file, PREFIX_LENGTH)
  if (prefix === undefined || MAGIC.some((byte, at) => prefix[at] !== byte)) return 'damaged'
  const numbers = new DataView(prefix.buffer)
  if (numbers.getUint32(8, true) !== FORMAT) return 'other_format'
  const length = numbers.getUint32(12, true)
  const json = length > size - PREFIX_LENGTH ? undefined : readBytes(file, length)
  if (json === undefined || crc32(json) !== numbers.getUint32(16, true)) return 'damaged'
  // Our own writing, as its checksum says: it has this shape.
  const header = JSON.parse(new TextDecoder().decode(json)) as SnapshotHeader
  return header.length === size - PREFIX_LENGTH - length ? header : 'damaged'
}

/** Bytes read, and checked, in one step. */
const READ_AT_ONCE = 1 << 22

/** What follows the header, in a buffer of its own; null when it is not what was written. */
function* readPayload(file: number, { length, crc }: SnapshotHeader): Steps<Uint8Array | null> {
  const bytes = new Uint8Array(length)
  let found = 0
  for (let at = 0; at < length; at += READ_AT_ONCE) {
    const piece = bytes.subarray(at, at + READ_AT_ONCE)
    if (!fill(piece, file)) return null
    found = crc32(piece, found)
    yield
  }
  return found === crc ? bytes : null
}

/** The next `length` bytes in a buffer of their own, or undefined when the file ends before. */
function readBytes(file: number, length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(length)
  return fill(bytes, file) ? bytes : undefined
}

/** With the bytes that come next; false when the file ends before. */
function fill(bytes: Uint8Array, file: number): boolean {
  let done = 0
  while (done < bytes.length) {
    const read = readSync(file, bytes, done, Math.min(PIECE, bytes.length - done), null)
    if (read === 0) return false
    done += read
  }
  return true
}

function encodeHeader(header: SnapshotHeader): Uint8Array[] {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const prefix = new Uint8Array(PREFIX_LENGTH)
  prefix.set(MAGIC)
  const numbers = new DataView(prefix.buffer)
  numbers.setUint32(8, FORMAT, true)
  numbers.setUint32(12, json.byteLength, true)
  numbers.setUint32(16, crc32(json), true)
  return [prefix, json]
}

/** Bytes that wait for the disk at most, so that no step waits for more of them. */
const UNSYNCED = 1 << 22

function* writeDurably(path: string, header: SnapshotHeader, each: EachPiece): Steps<void> {
  const file = openSync(path, 'w', 0o600)
  let unsynced = 0
  const write = (piece: Uint8Array) => {
    for (let done = 0; done < piece.byteLength; ) {
      const written = writeSync(file, piece, done, Math.min(UNSYNCED, piece.byteLength - done))
      done += written
      unsynced += written
      if (unsynced < UNSYNCED) continue
      fdatasyncSync(file)
      unsynced = 0
    }
  }
  try {
    for (const piece of encodeHeader(header)) write(piece)
    yield* each(write)
    yield
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The failure that led here is the one to report. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next save overwrites it.
  }
}

/** Makes the rename itself survive a power failure, where the platform lets folders be synced (Windows does not). */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
