/** What readers of documents have in common: what they are given, what they give, and how they say that they cannot. */
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { FileName, Unreadable } from '../../model/ingester.ts'
import type { WrittenText } from '../../text/text-writer.ts'

/** Sent between threads: plain data alone. */
export interface DocumentText extends WrittenText {
  /** As the document says it; empty: it says none. */
  readonly title: string
  readonly tags?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  readonly createdAt?: Instant | null | undefined
  readonly updatedAt?: Instant | null | undefined
  /** What was left out. */
  readonly warnings?: readonly string[] | undefined
}

/** Rejects with `UnreadableError`, or with whatever a parser throws at a damaged file. */
export type DocumentReader = (bytes: Uint8Array<ArrayBuffer>, file: FileName) => Promise<DocumentText>

/** UTF-16 units of text in one document; longer ones are refused. */
export const MAX_TEXT = 32_000_000

export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  readonly why: Unreadable

  constructor(why: Unreadable) {
    super(why.kind === 'failed' ? why.message : why.reason)
    this.why = why
  }
}

/** Example: `throw unreadable('not a PDF: it begins with "PK", as ZIP archives do')`. */
export function unreadable(message: string): UnreadableError {
  return new UnreadableError({ kind: 'failed', message })
}

export function encrypted(): UnreadableError {
  return new UnreadableError({ kind: 'skipped', reason: 'encrypted' })
}

export function checkLength(length: number): void {
  if (length > MAX_TEXT) throw unreadable(`it has more than ${MAX_TEXT} characters of text`)
}
