import { QuerentError } from '../model/errors.ts'

/** What every embedder rejects with when its caller's signal is aborted. */
export function cancelled(signal: AbortSignal | undefined): QuerentError {
  return new QuerentError('cancelled', 'embedding was cancelled by the caller', {}, signal?.reason)
}
