import { QuerentError } from '../model/errors.ts'

/** What anybody who asks an engine that was closed is told. */
export function closedError(): QuerentError {
  return new QuerentError('invalid_argument', 'engine: it is closed; open it again')
}
