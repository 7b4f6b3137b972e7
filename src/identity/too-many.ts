import { QuerentError } from '../model/errors.ts'

/** `rate_limited`: of these so many are let through in a window of time, and the next after this wait. Milliseconds. */
export function tooMany(
  of: string,
  { waitMs, limit, windowMs }: { readonly waitMs: number; readonly limit: number; readonly windowMs: number },
): QuerentError {
  return new QuerentError('rate_limited', `too many ${of}: wait ${waitMs} ms`, {
    retry_after_ms: waitMs,
    limit,
    window_ms: windowMs,
  })
}
