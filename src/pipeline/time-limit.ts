/** What a question that runs out of time, or is called off, ends with. */
import { QuerentError } from '../model/errors.ts'
import type { QueryContext } from './context.ts'

/** Throws `deadline_exceeded` or `cancelled`. */
export function mustHaveTime(context: QueryContext): void {
  mustNotBeCancelled(context)
  if (context.deadline.over) throw lateError(context)
}

/** Throws `cancelled`. */
export function mustNotBeCancelled({ deadline }: QueryContext): void {
  if (deadline.signal.aborted) throw new QuerentError('cancelled', 'the caller ended the question')
}

export function lateError({ query: { timeoutMs } }: QueryContext): QuerentError {
  return new QuerentError('deadline_exceeded', `the question took longer than ${timeoutMs} ms`, {
    timeout_ms: timeoutMs,
  })
}
