/** Closing an engine: closes what it opened, and ends what it waits for. */
import { QuerentError } from '../model/errors.ts'

/** Closes what was opened, in reverse order, even if some of it fails. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Runs all close functions, then throws the first failure. */
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

/** The error of every call to an engine that was closed. */
export function closedError(): QuerentError {
  return new QuerentError('invalid_argument', 'engine: it is closed; open it again')
}

/** Resolves or rejects like the promise, but rejects with `cancelled` as soon as the signal is aborted. */
export function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new QuerentError('cancelled', 'stopped before it finished', {}, signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
