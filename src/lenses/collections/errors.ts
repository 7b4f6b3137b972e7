/** The lens's one error (CO-022): an Error with its message and cause; its code is stable on every interface. */
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError, showValue } from '../../model/errors.ts'

export class ChromaQueryError extends QuerentError {
  override readonly name: string = 'ChromaQueryError'

  constructor(message: string, options: ChromaQueryErrorOptions = {}) {
    const { code = 'query_failed', kind = 'unavailable', details = {}, cause } = options
    const help = kind === 'usage' ? 'Correct what the message names.' : 'See that the store or server is there.'
    super({ code, type: 'ChromaQueryError', kind, retryable: false, help }, message, details, cause)
  }
}

export interface ChromaQueryErrorOptions {
  readonly code?: string | undefined
  readonly kind?: ErrorKind | undefined
  readonly details?: JsonObject | undefined
  readonly cause?: unknown
}

/** `parameter` got `value`, which is not `expected`. */
export function wrongParameter(parameter: string, value: unknown, expected: string): ChromaQueryError {
  return new ChromaQueryError(`${parameter} must be ${expected}, got ${showValue(value)}`, {
    code: 'invalid_argument',
    kind: 'usage',
    details: { field: parameter },
  })
}

/** The store cannot be opened, or not be reached. */
export function notOpened(reason: string, cause?: unknown): ChromaQueryError {
  return new ChromaQueryError(`Failed to initialize VectorStore: ${reason}`, { code: 'store_failed', cause })
}
