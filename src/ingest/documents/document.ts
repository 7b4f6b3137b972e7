/**
 * Types and errors that all document readers share: the input of a reader, its output, and how it reports that a document cannot be read.
 */
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { FileName, Unreadable } from '../../model/ingester.ts'
import type { WrittenText } from '../../text/text-writer.ts'

/**
 * The text of a document with its properties. It is sent between threads, so it contains only plain data, no functions or class instances.
 */
export interface DocumentText extends WrittenText {
  /** Title given in the document's own properties; empty if it has none. */
  readonly title: string
  readonly tags?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  readonly createdAt?: Instant | null | undefined
  readonly updatedAt?: Instant | null | undefined
  /** Messages about parts of the document that were left out. */
  readonly warnings?: readonly string[] | undefined
}

/** Function that reads a document. Rejects with `UnreadableError`, or with the error of a parsing library for a damaged file. */
export type DocumentReader = (bytes: Uint8Array<ArrayBuffer>, file: FileName) => Promise<DocumentText>

/** Maximum length of the text of one document in UTF-16 units; documents with more text are rejected. */
export const MAX_TEXT = 32_000_000

export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  readonly why: Unreadable

  constructor(why: Unreadable) {
    super(why.kind === 'failed' ? why.message : why.reason)
    this.why = why
  }
}

/** The error for a document that cannot be read, for example `throw unreadable('not a PDF: it begins with "PK", as ZIP archives do')`. */
export function unreadable(message: string): UnreadableError {
  return new UnreadableError({ kind: 'failed', message })
}

export function encrypted(): UnreadableError {
  return new UnreadableError({ kind: 'skipped', reason: 'encrypted' })
}

export function checkLength(length: number): void {
  if (length > MAX_TEXT) throw unreadable(`it has more than ${MAX_TEXT} characters of text`)
}
