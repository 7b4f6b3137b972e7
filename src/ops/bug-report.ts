/** What of an unexpected failure the log gets, and nobody else. */
import { inspect } from 'node:util'
import { QuerentError } from '../model/errors.ts'
import { asQuerentError } from '../model/reported-error.ts'

/** The lines to log of a bug, causes and all; null for what is no bug. `request` finds it from what the client got. */
export function bugReport(thrown: unknown, request: string): string | null {
  return isBug(asQuerentError(thrown)) ? `querent: bug in request ${request}: ${inspect(thrown)}\n` : null
}

/** A lens may call it by a code of its own; what it was is the cause then. */
function isBug({ code, kind, cause, isOpen }: QuerentError): boolean {
  return code === 'internal' || (isOpen && kind === 'broken' && !(cause instanceof QuerentError))
}
