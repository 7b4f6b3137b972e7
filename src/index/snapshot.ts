/**
 * Saves an index to a snapshot file and loads it again, so that opening a store need not read all of it. A snapshot is a cache: if the file
 * is unusable, loading returns the reason, and the caller rebuilds the index from the store.
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
import type { Numbers } from '../base/columns.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { StoreReader } from '../store/store.ts'
import type { Index } from './contract.ts'

/** The parts of a store by which a snapshot file is recognised as one of this store and of its history of changes. */
export type SnapshotStore = Pick<StoreReader, 'storeId' | 'lastSeq' | 'changesSince'>

/**
 * Why a snapshot was not used. The file is missing; damaged (cut short, or bits changed); of another format version; of another store; of
 * another index; of a later state than the store's, or of another history (a backup of the store was restored); rejected by the index; or
 * not readable.
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
 * Writes a snapshot of the index to `path` atomically, even if the process or the machine stops in the middle. Only one process at a time
 * may write to a path, which the engine ensures by a lease. Throws `io_failed` if the disk fails.
 */
export function saveSnapshot(path: string, index: Index, store: SnapshotStore): void {
  atOnce(saveInSteps(path, index, store))
}

/** Number of bytes of a snapshot that are checksummed, or written, between two possible pauses, which takes a few milliseconds. */
const BYTES_AT_ONCE = 1 << 22

/**
 * Writes the snapshot of an index atomically, with pauses between steps during which the index must not change. Throws `io_failed`. A
 * caller that stops early must call `return` on the generator, so that the file is closed and removed.
 */
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
        // If the index memory grew during a pause, the byte arrays that were views of the old memory are empty and must be created again.
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

/**
 * Loads the snapshot at `path` into the index. Returns whether that succeeded, and never throws for an unusable file; after a failure the
 * index is in the state in which its `restore` method left it.
 */
export function loadSnapshot(path: string, index: Index, store: SnapshotStore): SnapshotLoad {
  return atOnce(loadInSteps(path, index, store))
}

/**
 * Loads a snapshot into the index, with pauses between steps. The file stays open during pauses: a caller that stops early must call
 * `return` on the generator, so that the file is closed.
 */
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

/**
 * Position in the change feed up to which the snapshot at `path` reaches, read from the header of the file; 0 if there is no snapshot that
 * the index could use.
 */
export function snapshotPosition(path: string, index: Index, store: SnapshotStore): number {
  const opened = openSnapshot(path, index, store)
  if (typeof opened === 'string') return 0
  closeSync(opened.file)
  return opened.header.position
}

/**
 * Position in the change feed up to which a snapshot reaches, for a snapshot of any index of this store; null if the file is no snapshot of
 * this store. Never throws.
 */
export function positionOfSnapshot(path: string, storeId: string): number | null {
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const header = readSnapshotHeader(file)
    return typeof header !== 'string' && header.store === storeId ? header.position : null
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

/**
 * Opens a snapshot file and reads its header. Returns the open file, which the caller must close, or the reason why the snapshot cannot be
 * used.
 */
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
    const header = readSnapshotHeader(file)
    if (typeof header === 'string') return header
    if (header.store !== store.storeId) return 'other_store'
    if (header.index !== index.name) return 'other_index'
    if (header.position > store.lastSeq()) return 'ahead_of_store'
    return header.change === changeAt(store, header.position) ? header : 'other_past'
  } catch {
    return 'unreadable'
  }
}

/**
 * The change with this number in the store's change feed, as one text for comparison. Null for the number 0, and if the change is no longer
 * in the feed.
 */
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

// The snapshot file: magic (8 bytes), format, header length, CRC-32 of the header (u32 each, little-endian), header (JSON), payload.

const MAGIC = new TextEncoder().encode('QUERENT\n')
/**
 * Version of the snapshot file format; increased when its layout changes. If only the serialised form of one index changes, that index
 * rejects old payloads when it restores them.
 */
const FORMAT = 1
const PREFIX_LENGTH = 20
/** Maximum number of bytes in one call to read or write the file; Node allows at most 2 GiB. */
const PIECE = 1 << 30

interface SnapshotHeader {
  /** `store`: id of the store from which the snapshot was made. `index`: name of the index that the snapshot contains. */
  readonly store: string
  readonly index: string
  readonly position: number
  /**
   * The change at `position` in the store's change feed, as a text. If the store now has another change at this position, its history
   * differs from that of the snapshot, because a backup of the store was restored.
   */
  readonly change: string | null
  /** Length in bytes and CRC-32 checksum of the payload, the serialised index that follows the header. */
  readonly length: number
  readonly crc: number
}

/** Calls `visit` for all bytes of an index, one byte array after the other, with pauses in between. */
type EachPiece = (visit: (piece: Uint8Array) => void) => Steps<void>

/**
 * Writes the snapshot file atomically, even if the process or the machine stops in the middle, or the caller ends the generator early.
 * Throws errors of the disk.
 */
function* writeSnapshot(path: string, header: SnapshotHeader, each: EachPiece): Steps<void> {
  // The temporary file has a fixed name, so that the next save overwrites an incomplete file that a killed process left.
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

/** Reads the header of an open snapshot file; afterwards the payload can be read. Returns the reason if the header is unusable. */
function readSnapshotHeader(file: number): SnapshotHeader | 'damaged' | 'other_format' {
  const size = fstatSync(file).size
  const prefix = size < PREFIX_LENGTH ? undefined : readBytes(file, PREFIX_LENGTH)
  if (prefix === undefined || MAGIC.some((byte, at) => prefix[at] !== byte)) return 'damaged'
  const numbers = new DataView(prefix.buffer)
  if (numbers.getUint32(8, true) !== FORMAT) return 'other_format'
  const length = numbers.getUint32(12, true)
  const json = length > size - PREFIX_LENGTH ? undefined : readBytes(file, length)
  if (json === undefined || crc32(json) !== numbers.getUint32(16, true)) return 'damaged'
  // The cast is safe: the checksum shows that this program wrote the header, so it has the fields of a header.
  const header = JSON.parse(new TextDecoder().decode(json)) as SnapshotHeader
  return header.length === size - PREFIX_LENGTH - length ? header : 'damaged'
}

/** Number of bytes of a snapshot that are read and checksummed between two possible pauses. */
const READ_AT_ONCE = 1 << 22

/**
 * Reads the payload of a snapshot file, which follows the header, into a new buffer, with pauses between steps; null if the checksum is
 * wrong.
 */
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

/** Reads the next `length` bytes of the file into a new buffer; undefined if the file ends before. */
function readBytes(file: number, length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(length)
  return fill(bytes, file) ? bytes : undefined
}

/** Fills the array with the next bytes of an open file; returns false if the file ends before the array is full. */
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

/** Number of bytes written before they are flushed to the disk: no single flush then blocks the thread for long. */
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

/** Removes a file if possible. Never throws, because the error that made the file useless is the one to report. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // an incomplete file that cannot be removed is overwritten by the next save
  }
}

/**
 * Flushes the folder to the disk, so that the renaming of a file in it survives a power failure. Does nothing on Windows, where folders
 * cannot be flushed.
 */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

// What the images (serialised forms) of all indexes have in common: a JSON header, and arrays of numbers behind it, in little-endian byte
// order. A checksum in the snapshot file detects accidental damage, but a person who changes an image on purpose can correct the checksum
// too, so every field is checked before it is used.

/** Alignment in bytes of arrays of numbers in an image, which are read in place as typed arrays. */
const ALIGNMENT = 8

/** Header of an image (serialised index) whose fields have not been checked yet. */
export type UncheckedHeader = Readonly<Record<string, unknown>>

/** The header of an image as bytes: the length of the rest (u32, little-endian), the JSON text, and blanks up to a multiple of 8 bytes. */
export function headerBytes(header: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const bytes = new Uint8Array(aligned(4 + json.byteLength)).fill(0x20)
  new DataView(bytes.buffer).setUint32(0, bytes.byteLength - 4, true)
  bytes.set(json, 4)
  return bytes
}

/**
 * Parses the header of an image (serialised index); `end` is the byte position after it. Throws `invalid_argument` if the bytes do not
 * begin with a header.
 */
export function readHeader(bytes: Uint8Array): { readonly header: UncheckedHeader; readonly end: number } {
  const length = bytes.byteLength < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const end = 4 + length
  if (end > bytes.byteLength) throw refusedImage(bytes.byteLength, 'a header')
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(4, end)))
    if (typeof header === 'object' && header !== null) return { header: header as UncheckedHeader, end }
  } catch {
    // a text that is not JSON is rejected by the error below
  }
  throw refusedImage(bytes.byteLength, 'a header')
}

/** Throws `invalid_argument` unless the image (serialised index) has exactly the number of bytes that its header implies. */
export function checkLength(bytes: Uint8Array, expected: number): void {
  if (bytes.byteLength !== expected) throw refusedImage(bytes.byteLength, `${expected} bytes`)
}

/**
 * Checks the entry keys in an image at this position of the change feed; throws `invalid_argument` for a key that no entry can have had
 * then. Every entry was created by a change of its own, and both keys and changes are numbered from 1, so no key exceeds the position.
 * Without this check, a forged key in the thousands of millions would make tables by entry key gigabytes large.
 */
export function checkEntryKeys(keys: Int32Array | Uint32Array, position: number): void {
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number
    if (!(key >= 0 && key <= position)) throw refusedImage(key, `an entry key up to ${position}`)
  }
}

/**
 * Throws `invalid_argument` unless the header of an image has all fields of `identity` with equal values: the format version and the
 * declaration of the index.
 */
export function checkIdentity(header: UncheckedHeader, identity: object): void {
  for (const [name, value] of Object.entries(identity)) {
    if (JSON.stringify(header[name]) === JSON.stringify(value)) continue
    throw invalidArgument(`snapshot.${name}`, header[name], String(value))
  }
}

/**
 * The image (serialised form) of an index: a header and arrays of numbers. It consists of views of the arrays, so it must be written before
 * the arrays change. `header` contains the identity of the index, and no field `arrays`.
 */
export function imageOf(header: object, arrays: readonly Numbers[]): readonly Uint8Array[] {
  return [
    headerBytes({ ...header, arrays: arrays.map(({ byteLength }) => byteLength) }),
    ...arrays.flatMap(({ buffer, byteOffset, byteLength }) => [
      new Uint8Array(buffer, byteOffset, byteLength),
      new Uint8Array(aligned(byteLength) - byteLength),
    ]),
  ]
}

export interface Image {
  readonly header: UncheckedHeader
  /** Number of arrays in the image that have not been read by `take` yet. */
  readonly left: number
  /** Reads the next array of the image, as a view of its bytes. The caller must check the array's length. */
  take<A extends Numbers>(of: ArrayType<A>): A
}

interface ArrayType<A> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, at: number, length: number): A
}

/**
 * Reads an image that `imageOf` wrote. The arrays are views, so the bytes must not change afterwards. Throws `invalid_argument` if the
 * bytes are not an image with this identity.
 */
export function readImage(bytes: Uint8Array, identity: object): Image {
  // The bytes are copied with the typed array's constructor, because `slice` of a Buffer returns a view instead of a copy.
  const image = aligned(bytes.byteOffset) === bytes.byteOffset ? bytes : new Uint8Array(bytes)
  const { header, end } = readHeader(image)
  checkIdentity(header, identity)
  const sizes = header['arrays']
  if (!(Array.isArray(sizes) && sizes.every(isCount))) throw refusedImage(sizes, 'sizes of arrays')
  let at = aligned(end)
  checkLength(
    image,
    sizes.reduce((sum, size) => sum + aligned(size), at),
  )
  let next = 0
  return {
    header,
    get left() {
      return sizes.length - next
    },
    take: of => {
      const size = sizes[next++]
      if (size === undefined || size % of.BYTES_PER_ELEMENT !== 0) throw refusedImage(size, 'the size of an array')
      const array = new of(image.buffer, image.byteOffset + at, size / of.BYTES_PER_ELEMENT)
      at += aligned(size)
      return array
    },
  }
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The first multiple of 8 bytes (the alignment of arrays) at or after the byte position `place`. */
export function aligned(place: number): number {
  return Math.ceil(place / ALIGNMENT) * ALIGNMENT
}

export function refusedImage(value: unknown, expected: string): QuerentError {
  return invalidArgument('snapshot', value, expected)
}
