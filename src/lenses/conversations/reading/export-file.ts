/** A file of an export as its readers see it: bytes, text, lines. Who opens it is not their concern: a lens has no disk. */
import { invalidArgument } from '../../../model/errors.ts'
import type { ExportFile as GivenFile } from '../../lens.ts'
import type { Findings } from './findings.ts'

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
  return path.split('/').at(-2) ?? ''
}

/** In lower case, without the dot; empty where there is none. */
export function extensionOf(path: string): string {
  const name = nameOf(path)
  return name.slice(withoutExtension(path).length + 1).toLowerCase()
}

export function withoutExtension(path: string): string {
  return nameOf(path).replace(/(?<=.)\.[^.]*$/s, '')
}

/** Throws `invalid_argument` where the same path comes twice: a path identifies a file. */
export function requireDistinct(files: readonly ExportFile[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) throw invalidArgument('files', path, 'every path once')
    seen.add(path)
  }
}

/** The first bytes of it, at most `max`. */
export async function firstBytes(file: ExportFile, max: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const bytes of file.bytes()) {
    parts.push(bytes)
    length += bytes.length
    if (length >= max) break
  }
  return Buffer.concat(parts).subarray(0, max)
}

/** UTF-8, or UTF-16 where a byte order mark says so. */
export function decoderFor(bytes: Uint8Array): InstanceType<typeof TextDecoder> {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return new TextDecoder(!isUtf16 ? 'utf-8' : bytes[0] === 0xff ? 'utf-16le' : 'utf-16be')
}

/**
 * The text in pieces, without a byte order mark. What is no character becomes U+FFFD, which is reported once a file, as is
 * that it has more than `max` bytes: those behind them are not read.
 */
export async function* textPieces(
  file: ExportFile,
  findings: Findings,
  max: number = Number.POSITIVE_INFINITY,
): AsyncIterable<string> {
  const decoder = decoderFor(await firstBytes(file, 2))
  let isBroken = false
  const checked = (text: string): string => {
    if (!isBroken && text.includes('\ufffd')) {
      isBroken = true
      findings.problem({ path: file.path }, 'some of it is no text in UTF-8 or UTF-16; it became U+FFFD')
    }
    return text
  }
  let length = 0
  for await (const bytes of file.bytes()) {
    length += bytes.length
    if (length > max) {
      findings.problem({ path: file.path }, `larger than ${max} bytes: what comes after them was not read`)
      break
    }
    yield checked(decoder.decode(bytes, { stream: true }))
  }
  yield checked(decoder.decode())
}

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Characters beyond `max`, which `text` does not hold. */
  readonly dropped: number
}

/** Lines end with LF or CR LF; the last may end with neither. `max`: characters of one line that are kept. */
export async function* linesOf(
  pieces: AsyncIterable<string> | Iterable<string>,
  max: number = Number.POSITIVE_INFINITY,
): AsyncIterable<Line> {
  let number = 1
  let text = ''
  let dropped = 0
  const taken = (): Line => {
    const line = { number: number++, text: text.endsWith('\r') ? text.slice(0, -1) : text, dropped }
    text = ''
    dropped = 0
    return line
  }
  for await (const piece of pieces) {
    for (const [at, part] of piece.split('\n').entries()) {
      if (at > 0) yield taken()
      const room = max - text.length
      text += part.slice(0, room)
      dropped += Math.max(0, part.length - room)
    }
  }
  if (text !== '' || dropped > 0) yield taken()
}
