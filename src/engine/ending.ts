/** How what an engine opened, and what it waits for, ends. */
import { QuerentError } from '../model/errors.ts'

/** What closes the things that were opened: in reverse order, whatever fails. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Goes on when one fails, then throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closers.toReversed()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** What calls of an engine that was closed are refused with. */
export function closedError(): QuerentError {
  return new QuerentError('invalid_argument', 'engine: it is closed; open it again')
}

/** What the promise comes to, or a rejection with `cancelled` when the signal comes first. */
export function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new QuerentError('cancelled', 'stopped before it finished', {}, signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
