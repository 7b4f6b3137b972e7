/** Closing an engine: closes the parts that it opened, and interrupts what callers wait for. */
import { QuerentError } from '../model/errors.ts'

/** Collects functions that close parts of the engine; they run in reverse order of opening, even if some of them fail. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Runs all collected close functions in reverse order, then throws the first error that one of them threw. */
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

/** The error that every method call throws after the engine was closed. */
export function closedError(): QuerentError {
  return new QuerentError('invalid_argument', 'engine: it is closed; open it again')
}

/** Resolves or rejects as the given promise does, but rejects with `cancelled` as soon as the signal is aborted. */
export function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new QuerentError('cancelled', 'stopped before it finished', {}, signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
