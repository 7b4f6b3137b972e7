/** Bytes to text, piece by piece, whatever the file's Unicode form and wherever a piece was cut. */
import { type ExportFile, joined } from './export-file.ts'
import type { Findings } from './findings.ts'

/**
 * The text in pieces: UTF-8, or UTF-16 where a byte order mark says so; the mark is dropped. What is no character becomes
 * U+FFFD, and is told of once a file. `most`: bytes that are read; that there were more is told.
 */
export async function* textPieces(
  file: ExportFile,
  findings: Findings,
  most: number = Number.POSITIVE_INFINITY,
): AsyncIterable<string> {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let held: Uint8Array = new Uint8Array(0)
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
    if (length > most) {
      findings.problem({ path: file.path }, `larger than ${most} bytes: what comes after them was not read`)
      break
    }
    // The mark may be cut by the end of a piece.
    const piece: Uint8Array = held.length === 0 ? bytes : joined([held, bytes])
    held = new Uint8Array(0)
    if (decoder === null && piece.length < 2) {
      held = piece
      continue
    }
    decoder ??= new TextDecoder(labelOf(piece))
    const text = decoder.decode(piece, { stream: true })
    if (text !== '') yield checked(text)
  }
  decoder ??= new TextDecoder()
  const rest = decoder.decode(held, { stream: true }) + decoder.decode()
  if (rest !== '') yield checked(rest)
}

export function labelOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
}
