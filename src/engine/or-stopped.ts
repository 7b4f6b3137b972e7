/** Waiting that a signal ends, whether or not what is waited for heeds it. */
import { QuerentError } from '../model/errors.ts'

/** What the promise comes to, or a rejection with `cancelled` when the signal comes first. */
export function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new QuerentError('cancelled', 'stopped before it was done', {}, signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
