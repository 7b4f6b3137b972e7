/** Mails one after the other: of an mbox file, or the one mail of an EML file. */
import { type ExportFile, joined, MAX_HELD_BYTES, MAX_RECORD_BYTES } from './export-file.ts'
import type { Findings, Place } from './findings.ts'

export interface RawMail {
  readonly bytes: Uint8Array
  /** `at`: the number of the mail in its file, from 1. */
  readonly place: Place
}

const FEED = 0x0a
const RETURN = 0x0d
const QUOTE = 0x3e
const ascii = new TextDecoder('latin1')

/** What separates two mails: a line of this shape after an empty one. */
const SEPARATOR = /^From \S.*\d{4}/
/** Longer separators were never seen. */
const MAX_SEPARATOR = 400

export async function* mailsOf(file: ExportFile, findings: Findings): AsyncIterable<RawMail> {
  let isMbox: boolean | null = null
  let mail: { readonly line: number; readonly parts: Uint8Array[]; length: number } | null = null
  let number = 0
  let line = 0
  let isAfterEmpty = true
  let read = 0
  const taken = (): RawMail => {
    const { parts, length, line: first } = mail as { line: number; parts: Uint8Array[]; length: number }
    number++
    const place = { path: file.path, line: first, at: isMbox ? `mail ${number}` : null }
    if (length > MAX_RECORD_BYTES) {
      findings.problem(place, `the mail is larger than ${MAX_RECORD_BYTES} bytes; the rest of it was not read`)
    }
    mail = null
    return { bytes: joined(parts), place }
  }
  for await (const bytes of byteLines(file)) {
    line++
    read += bytes.length
    if (read > MAX_HELD_BYTES) {
      findings.problem({ path: file.path, line }, `larger than ${MAX_HELD_BYTES} bytes: from here on it was not read`)
      break
    }
    const isSeparator =
      isAfterEmpty && bytes[0] === 0x46 && SEPARATOR.test(ascii.decode(bytes.subarray(0, MAX_SEPARATOR)))
    isMbox ??= isSeparator
    if (isSeparator && isMbox) {
      if (mail !== null) yield taken()
      mail = { line: line + 1, parts: [], length: 0 }
    } else {
      mail ??= { line, parts: [], length: 0 }
      const own = isMbox ? unquoted(bytes) : bytes
      mail.length += own.length
      if (mail.length <= MAX_RECORD_BYTES) mail.parts.push(own)
    }
    isAfterEmpty = bytes.length <= 2 && (bytes[0] === FEED || (bytes[0] === RETURN && bytes[1] === FEED))
  }
  if (mail !== null) yield taken()
}

/** `>From ` in a body was `From ` before it was put into the file. */
function unquoted(line: Uint8Array): Uint8Array {
  if (line[0] !== QUOTE) return line
  return /^>+From /.test(ascii.decode(line.subarray(0, 100))) ? line.subarray(1) : line
}

/** Lines with their ends. */
async function* byteLines(file: ExportFile): AsyncIterable<Uint8Array> {
  let held: Uint8Array[] = []
  let isFirst = true
  for await (const bytes of file.bytes()) {
    let start = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    isFirst = false
    for (let end = bytes.indexOf(FEED, start); end >= 0; end = bytes.indexOf(FEED, start)) {
      held.push(bytes.subarray(start, end + 1))
      yield joined(held)
      held = []
      start = end + 1
    }
    if (start < bytes.length) held.push(bytes.slice(start))
  }
  if (held.length > 0) yield joined(held)
}
