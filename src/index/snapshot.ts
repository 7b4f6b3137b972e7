/**
 * Saves an index to a file and loads it again, so that opening a store need not read all of it. A snapshot is a cache: if the file is
 * unusable, loading says why, and the caller rebuilds the index from the store.
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

/** The parts of a store that tell whether a snapshot belongs to this store and its history. */
export type SnapshotStore = Pick<StoreReader, 'storeId' | 'lastSeq' | 'changesSince'>

/**
 * Why a snapshot was not used: the file is missing; it is cut short or its bits have changed; it was written by another version, for
 * another store or another index; its state is later than the store's, or of another history (a backup was restored); the index rejected
 * it; or it cannot be read.
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
 * Writes the state of the index to `path` atomically, even if the process or the machine stops meanwhile. Only one process at a time may
 * save to a path (the engine's lease ensures this). Throws `io_failed` if the disk fails.
 */
export function saveSnapshot(path: string, index: Index, store: SnapshotStore): void {
  atOnce(saveInSteps(path, index, store))
}

/** Bytes that are checksummed, or written, in one step: a few milliseconds. */
const BYTES_AT_ONCE = 1 << 22

/** Like `saveSnapshot`, in steps, between which the index must not change. A caller that stops early must end the generator (`return`). */
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
        // If the memory has grown meanwhile, the views are empty and must be made again.
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

/** Restores the index from `path`. Never throws for an unusable file; the index is then as its `restore` left it. */
export function loadSnapshot(path: string, index: Index, store: SnapshotStore): SnapshotLoad {
  return atOnce(loadInSteps(path, index, store))
}

/** Like `loadSnapshot`, in steps. The file is open between them: a caller that stops early must end the generator (`return`). */
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

/** The feed position of the snapshot at `path`, read from its header; 0 if there is no snapshot that the index could use. */
export function snapshotPosition(path: string, index: Index, store: SnapshotStore): number {
  const opened = openSnapshot(path, index, store)
  if (typeof opened === 'string') return 0
  closeSync(opened.file)
  return opened.header.position
}

/** The feed position of a snapshot of this store, for any index; null if the file is not one. Never throws. */
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

/** Opens a snapshot and reads its header; the caller must close the file. */
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

/** The change at a position of the feed, as text. Null at position 0, and if the change was cut from the feed. */
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
/** Version of the file format; increased when the layout changes. An index whose payload has changed rejects the old one in `restore`. */
const FORMAT = 1
const PREFIX_LENGTH = 20
/** Bytes per call: Node reads and writes at most 2 GiB at a time. */
const PIECE = 1 << 30

interface SnapshotHeader {
  /** `store`: the `storeId` of the store; `index`: the name of the index. */
  readonly store: string
  readonly index: string
  readonly position: number
  /** The change at `position`, which differs if a backup was restored and the store has another history since. */
  readonly change: string | null
  /** Length in bytes and CRC-32 of the payload. */
  readonly length: number
  readonly crc: number
}

/** Visits the bytes piece by piece, in steps. */
type EachPiece = (visit: (piece: Uint8Array) => void) => Steps<void>

/**
 * Writes the file atomically, even if the process or the machine stops meanwhile, or the steps are ended early. Throws errors of the disk.
 */
function* writeSnapshot(path: string, header: SnapshotHeader, each: EachPiece): Steps<void> {
  // A fixed name, so that the next save overwrites the rest that a killed process left.
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

/** Reads the header from the beginning of an open file; the payload follows. */
function readSnapshotHeader(file: number): SnapshotHeader | 'damaged' | 'other_format' {
  const size = fstatSync(file).size
  const prefix = size < PREFIX_LENGTH ? undefined : readBytes(file, PREFIX_LENGTH)
  if (prefix === undefined || MAGIC.some((byte, at) => prefix[at] !== byte)) return 'damaged'
  const numbers = new DataView(prefix.buffer)
  if (numbers.getUint32(8, true) !== FORMAT) return 'other_format'
  const length = numbers.getUint32(12, true)
  const json = length > size - PREFIX_LENGTH ? undefined : readBytes(file, length)
  if (json === undefined || crc32(json) !== numbers.getUint32(16, true)) return 'damaged'
  // The checksum shows that this program wrote it, so it has this shape.
  const header = JSON.parse(new TextDecoder().decode(json)) as SnapshotHeader
  return header.length === size - PREFIX_LENGTH - length ? header : 'damaged'
}

/** Bytes that are read and checked in one step. */
const READ_AT_ONCE = 1 << 22

/** Reads the payload after the header into a new buffer; null if its checksum is wrong. */
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

/** The next `length` bytes of the file in a new buffer, or undefined if the file ends before. */
function readBytes(file: number, length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(length)
  return fill(bytes, file) ? bytes : undefined
}

/** Fills the array with the next bytes of the file; false if the file ends before. */
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

/** Bytes written before they are flushed to the disk, so that no step has to wait for more. */
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

/** Removes a file. Never throws: the failure that led here is the one to report. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next save overwrites the file.
  }
}

/** Flushes the folder, so that the rename survives a power failure, if the platform allows that for folders (Windows does not). */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

// What the images of all indexes share: a JSON header, and arrays of numbers behind it, in the machine's order (little-endian).
// The snapshot file guards an image with a checksum, but whoever changes an image on purpose can correct that too: so every
// field is checked before it is used.

/** Alignment in bytes of number columns, which are read in place. */
const ALIGNMENT = 8

/** Not checked yet. */
export type UncheckedHeader = Readonly<Record<string, unknown>>

/** The header as bytes: its length (u32, little-endian), the JSON, and blanks up to the next aligned position. */
export function headerBytes(header: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const bytes = new Uint8Array(aligned(4 + json.byteLength)).fill(0x20)
  new DataView(bytes.buffer).setUint32(0, bytes.byteLength - 4, true)
  bytes.set(json, 4)
  return bytes
}

/** Parses the header of an image; `end` is the position after it. Throws `invalid_argument` if there is none. */
export function readHeader(bytes: Uint8Array): { readonly header: UncheckedHeader; readonly end: number } {
  const length = bytes.byteLength < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const end = 4 + length
  if (end > bytes.byteLength) throw refusedImage(bytes.byteLength, 'a header')
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(4, end)))
    if (typeof header === 'object' && header !== null) return { header: header as UncheckedHeader, end }
  } catch {
    // Refused below.
  }
  throw refusedImage(bytes.byteLength, 'a header')
}

/** Throws `invalid_argument` unless the image has the length that its header implies. */
export function checkLength(bytes: Uint8Array, expected: number): void {
  if (bytes.byteLength !== expected) throw refusedImage(bytes.byteLength, `${expected} bytes`)
}

/**
 * Throws `invalid_argument` for a key that no entry can have had at this position of the feed. Every entry was created by a change of its
 * own, and both keys and changes are numbered from 1, so no key exceeds the position. Indexes keep tables by entry key, which a key in the
 * thousands of millions would make gigabytes large.
 */
export function checkEntryKeys(keys: Int32Array | Uint32Array, position: number): void {
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number
    if (!(key >= 0 && key <= position)) throw refusedImage(key, `an entry key up to ${position}`)
  }
}

/** Throws `invalid_argument` unless the header has these fields with these values: the format, and the declaration of the index. */
export function checkIdentity(header: UncheckedHeader, identity: object): void {
  for (const [name, value] of Object.entries(identity)) {
    if (JSON.stringify(header[name]) === JSON.stringify(value)) continue
    throw invalidArgument(`snapshot.${name}`, header[name], String(value))
  }
}

/**
 * The image of an index as views of its arrays, which must be written before the arrays change. `header` contains the identity, and no
 * field `arrays`.
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
  /** Number of arrays that have not been taken yet. */
  readonly left: number
  /** The next array, as a view of the image. Its length is not checked. */
  take<A extends Numbers>(of: ArrayType<A>): A
}

interface ArrayType<A> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, at: number, length: number): A
}

/**
 * Reads an image that `imageOf` wrote; the bytes must not change afterwards. Throws `invalid_argument` if they are not an image with this
 * identity.
 */
export function readImage(bytes: Uint8Array, identity: object): Image {
  // Copies with the constructor, because `slice` on a Buffer returns a view.
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

/** The next aligned position at or after `place`. */
export function aligned(place: number): number {
  return Math.ceil(place / ALIGNMENT) * ALIGNMENT
}

export function refusedImage(value: unknown, expected: string): QuerentError {
  return invalidArgument('snapshot', value, expected)
}
