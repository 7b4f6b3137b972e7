/** A file of an export as its readers see it. Who opens it is not their concern: a lens has no disk. */
import { invalidArgument } from '../../../model/errors.ts'
import type { ExportFile as GivenFile } from '../../lens.ts'

export type ExportFile = GivenFile

/** Of files whose messages are all held until the end; the size that other importers of records allow. */
export const MAX_HELD_BYTES = 256 * 1024 * 1024
/** Of one record (a line, a conversation of an assistant, a mail): larger ones are reported and skipped. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Empty for a file beside which no folder is named. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf('/')
  if (end < 0) return ''
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}

export function extensionOf(path: string): string {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}

export function withoutExtension(path: string): string {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}

/** The first bytes of it, as many as `most`. */
export async function firstBytes(file: ExportFile, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const bytes of file.bytes()) {
    parts.push(bytes)
    length += bytes.length
    if (length >= most) break
  }
  return joined(parts).subarray(0, most)
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Throws `invalid_argument` where the same path comes twice: a reader tells files apart by it. */
export function checkFiles(files: readonly ExportFile[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) throw invalidArgument('files', path, 'every path once')
    seen.add(path)
  }
}
