/** Errors of searching another engine: one error class, with the codes of the source contract. */
import type { SourceError, SourceErrorCode } from '../pipeline/source.ts'

export class SourceFailure extends Error {
  override readonly name: string = 'SourceFailure'
  readonly code: SourceErrorCode

  constructor(code: SourceErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Error: the server refuses a record because of its content; other records may be accepted. */
export class RecordsRefused extends SourceFailure {
  constructor(message: string, cause: unknown) {
    super('query_failed', message, cause)
  }
}

export function notFound(collection: string): SourceFailure {
  return new SourceFailure('collection_not_found', `${collection}: there is no such collection`)
}

/**
 * Error: the vectors of a collection and the query have different sizes; `expected` is null where the engine did not name the size of its
 * own.
 */
export function wrongDimensions(collection: string, expected: number | null, got: number): SourceFailure {
  const has = expected === null ? 'of another size' : `of ${expected} dimensions`
  return new SourceFailure('dimension_mismatch', `${collection}: its vectors are ${has}, the question's has ${got}`)
}

export function malformed(collection: string, what: string, cause?: unknown): SourceFailure {
  return new SourceFailure('malformed_answer', `${collection}: ${what}`, cause)
}

/** Error: the client library of an engine is an optional npm package that is not installed. */
export function packageMissing(name: string, cause: unknown): SourceFailure {
  return new SourceFailure(
    'package_missing',
    `the package ${name} is not installed; run \`npm install ${name}\``,
    cause,
  )
}

/** Converts any thrown value to an error of the source contract; the message of an unknown error begins with the name of the collection. */
export function errorOf(thrown: unknown, collection: string): SourceError {
  if (thrown instanceof SourceFailure) return { code: thrown.code, message: thrown.message }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: 'query_failed', message: `${collection}: ${message}` }
}
