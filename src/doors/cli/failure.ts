/** What a failed command leaves behind: an exit code, and a message for people or a document for programs. */
import { type ErrorKind, QuerentError } from '../../model/errors.ts'

/** Every exit code there is; part of the contract, listed in docs/guide/cli.md. */
export const EXIT = { answered: 0, failed: 1, usage: 2, nothingRelevant: 3 } as const

const EXIT_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  usage: EXIT.usage,
  not_found: EXIT.failed,
  conflict: EXIT.failed,
  denied: EXIT.failed,
  busy: EXIT.failed,
  limit: EXIT.failed,
  unavailable: EXIT.failed,
  broken: EXIT.failed,
}

/** Anything thrown, as the one error class. What is not ours is a bug of ours, reported without its stack. */
export function asQuerentError(error: unknown): QuerentError {
  if (error instanceof QuerentError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new QuerentError('internal', `internal error: ${message}`, {}, error)
}

export function exitCodeFor(error: QuerentError): number {
  return EXIT_BY_KIND[error.kind]
}

/** Their messages name the field and what was expected: nothing is left to say. */
const SAYS_ALL: ReadonlySet<string> = new Set(['invalid_argument', 'unknown_field', 'too_large', 'cancelled'])

/** For people: what is wrong, then what to do, where the message does not say it itself. */
export function failureText({ code, message, help }: QuerentError): string {
  const isSaid = SAYS_ALL.has(code) || message.includes('`querent ')
  return `querent: ${message}\n${isSaid ? '' : `  ${help}\n`}`
}
