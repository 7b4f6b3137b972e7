/** Opens a file and makes text of it, or says why not. Never follows a link, never waits on a pipe. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Instant } from '../base/clock.ts'
import type { SkipReason } from './walk.ts'

export type FileText =
  | { readonly kind: 'text'; readonly text: string; readonly bytes: Uint8Array; readonly modifiedAt: Instant }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly error: unknown }

/** A pipe opens without a writer, a link does not open at all. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export async function readText(path: string, maxBytes: number): Promise<FileText> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, FLAGS)
    const stat = await handle.stat()
    if (!stat.isFile()) return { kind: 'skipped', reason: 'special' }
    if (stat.size > maxBytes) return { kind: 'skipped', reason: 'too_large' }
    const bytes = await readAtMost(handle, maxBytes + 1, stat.size)
    if (bytes.length > maxBytes) return { kind: 'skipped', reason: 'too_large' }
    const text = decode(bytes)
    if (text === null) return { kind: 'skipped', reason: 'binary' }
    return { kind: 'text', text, bytes, modifiedAt: Math.trunc(stat.mtimeMs) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return { kind: 'skipped', reason: 'symlink' }
    return { kind: 'failed', error }
  } finally {
    await handle?.close()
  }
}

/** The file may grow while it is read. */
async function readAtMost(handle: FileHandle, most: number, expected: number): Promise<Uint8Array> {
  let buffer = Buffer.allocUnsafe(Math.min(most, expected + 1))
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
 * UTF-8, or UTF-16 with a byte order mark; the mark itself is dropped. Null for anything else: the character
 * NUL or bytes that are not UTF-8 are the sign of a binary file. Most are known by their first 8 KiB.
 */
export function decode(bytes: Uint8Array): string | null {
  const utf16 = utf16Label(bytes)
  if (utf16 === null && bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null
  try {
    const text = new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

function utf16Label(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}
