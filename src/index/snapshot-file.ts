/**
 * The file of a snapshot: magic (8 bytes), format, header length, CRC-32 of the header (u32 each, little-endian), header
 * (JSON), payload.
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
import type { Steps } from '../base/turns.ts'

const MAGIC = new TextEncoder().encode('QUERENT\n')
/** Raised when this layout changes. An index that changes its payload refuses the old one in `restore`. */
const FORMAT = 1
const PREFIX_LENGTH = 20
/** Node reads and writes at most 2 GiB a call. */
const PIECE = 1 << 30

export interface SnapshotHeader {
  /** `storeId` of the store, and the name of the index. */
  readonly store: string
  readonly index: string
  readonly position: number
  /** The change at that position, by which a past that was put back from a backup is told from the one that was lost. */
  readonly change: string | null
  /** Of the payload: bytes, and CRC-32. */
  readonly length: number
  readonly crc: number
}

/** Gives bytes piece by piece, in steps. */
export type EachPiece = (visit: (piece: Uint8Array) => void) => Steps<void>

/** All of it or nothing, also if the process or the machine stops meanwhile, or the steps are ended. Throws what the disk says. */
export function* writeSnapshot(path: string, header: SnapshotHeader, each: EachPiece): Steps<void> {
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
export function readHeader(file: number): SnapshotHeader | 'damaged' | 'other_format' {
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
export function* readPayload(file: number, { length, crc }: SnapshotHeader): Steps<Uint8Array | null> {
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

/** The failure that led here is the one to be told. */
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
