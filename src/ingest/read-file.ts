/**
 * Opens a file and decodes its text, or gives the reason why it cannot. Never follows a symbolic link, and never waits for a named pipe.
 */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { sha256InSteps } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps, Turns } from '../base/turns.ts'
import type { SkipReason } from './walk.ts'

interface FileState {
  /** `bytes`: size of the file in bytes; `sha256`: SHA-256 hash of the file's bytes in hexadecimal. */
  readonly bytes: number
  readonly sha256: string
  readonly modifiedAt: Instant
}

export type NoFile =
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly error: unknown }

export type FileText = (FileState & { readonly kind: 'text'; readonly text: string }) | NoFile

/** Bytes of a file, in a buffer that is not shared with anything else, so that the buffer can be transferred to a thread. */
export type FileData = FileState & { readonly kind: 'data'; readonly data: Uint8Array<ArrayBuffer> }

/**
 * Flags for opening a file: a named pipe is opened without waiting for a writer, and opening a symbolic link fails. Windows has neither
 * flag.
 */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Reads and decodes a text file. `turns`: decides when the work pauses so that other work can run. */
export async function readText(turns: Turns, path: string, maxBytes: number): Promise<FileText> {
  const read = await readBytes(path, maxBytes)
  if (read.kind !== 'bytes') return read
  const { bytes, modifiedAt } = read
  const text = await turns.run(decodeInSteps(bytes))
  if (text === null) return { kind: 'skipped', reason: 'binary' }
  return { kind: 'text', text, bytes: bytes.length, sha256: await turns.run(sha256InSteps(bytes)), modifiedAt }
}

/** Reads the bytes of a file that is not plain text. */
export async function readData(turns: Turns, path: string, maxBytes: number): Promise<FileData | NoFile> {
  const read = await readBytes(path, maxBytes)
  if (read.kind !== 'bytes') return read
  const { bytes: data, modifiedAt } = read
  return { kind: 'data', data, bytes: data.length, sha256: await turns.run(sha256InSteps(data)), modifiedAt }
}

type FileBytes =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer>; readonly modifiedAt: Instant }
  | NoFile

async function readBytes(path: string, maxBytes: number): Promise<FileBytes> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, FLAGS)
    const stat = await handle.stat()
    if (!stat.isFile()) return { kind: 'skipped', reason: 'special' }
    if (stat.size > maxBytes) return { kind: 'skipped', reason: 'too_large' }
    const bytes = await readAtMost(handle, maxBytes + 1, stat.size)
    if (bytes.length > maxBytes) return { kind: 'skipped', reason: 'too_large' }
    return { kind: 'bytes', bytes, modifiedAt: Math.trunc(stat.mtimeMs) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return { kind: 'skipped', reason: 'symlink' }
    return { kind: 'failed', error }
  } finally {
    await handle?.close()
  }
}

/** Reads at most `most` bytes, whatever the size was before, because the file may grow while it is read. */
async function readAtMost(handle: FileHandle, most: number, expected: number): Promise<Uint8Array<ArrayBuffer>> {
  let buffer = Buffer.allocUnsafeSlow(Math.min(most, expected + 1))
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
    length += bytesRead
    if (bytesRead === 0 || length >= most) return buffer.subarray(0, length)
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(most, buffer.length * 2))
  }
}

const SNIFFED_BYTES = 8 * 1024

/**
 * Decodes a file's bytes as UTF-8, or as UTF-16 if they begin with a byte order mark; the mark itself is dropped. Null if they contain a
 * NUL character or invalid bytes, which indicates a binary file; most binary files are recognised by their first 8 KiB.
 */
export function* decodeInSteps(bytes: Uint8Array): Steps<string | null> {
  const utf16 = utf16Label(bytes)
  if (utf16 === null && bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null
  const decoder = new TextDecoder(utf16 ?? 'utf-8', { fatal: true })
  let text = ''
  try {
    for (const part of partsOf(bytes)) {
      const decoded = decoder.decode(part, { stream: true })
      if (decoded.includes('\0')) return null
      text += decoded
      yield
    }
    return text + decoder.decode()
  } catch {
    return null
  }
}

/** Number of bytes decoded between two pauses, about a millisecond of work. */
const BYTES_AT_ONCE = 1 << 20

function* partsOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) yield bytes.subarray(at, at + BYTES_AT_ONCE)
}

function utf16Label(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}
