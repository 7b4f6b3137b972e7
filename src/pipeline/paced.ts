/**
 * A stream whose next piece is made only when the reader requests it. Its resources are released when the pieces end, when the reader
 * returns or cancels, and when the reader does not request the next piece for too long.
 */
import { QuerentError } from '../model/errors.ts'

/** Longest time between two requests for a piece, in ms of machine time; after that the stream ends. */
export const MAX_IDLE_MS = 60_000

export interface Pace {
  readonly signal: AbortSignal
  readonly idleMs: number
  /** Starts a timer on machine time that calls back once; the returned function cancels the timer. */
  after(ms: number, callback: () => void): () => void
}

/**
 * Makes the stream. `begin` gets a signal that is aborted when the pieces end, when the reader returns or cancels, or when the reader waits
 * too long.
 */
export function paced<T>(begin: (signal: AbortSignal) => AsyncGenerator<T>, pace: Pace): AsyncIterableIterator<T> {
  return new Paced(begin, pace)
}

class Paced<T> implements AsyncIterableIterator<T> {
  readonly #pieces: AsyncGenerator<T>
  readonly #pace: Pace
  readonly #ending = new AbortController()
  /** The error that ended the stream early; thrown once, at the reader's next request for a piece. */
  #failure: unknown = null
  #stopWaiting: (() => void) | null = null

  constructor(begin: (signal: AbortSignal) => AsyncGenerator<T>, pace: Pace) {
    this.#pace = pace
    this.#pieces = begin(AbortSignal.any([pace.signal, this.#ending.signal]))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T>> {
    this.#stopWaiting?.()
    if (this.#pace.signal.aborted) this.#fail(stopped(this.#pace.signal))
    this.#throwFailure()
    try {
      const result = await this.#pieces.next()
      if (result.done !== true) this.#wait()
      return result
    } catch (error) {
      throw this.#pace.signal.aborted ? stopped(this.#pace.signal) : error
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#stopWaiting?.()
    this.#failure = null
    await this.#end()
    return { done: true, value: undefined }
  }

  /**
   * Starts a timer that ends the stream where the reader does not request the next piece in time: a reader may disappear without notice.
   */
  #wait(): void {
    const { signal, idleMs } = this.#pace
    const stop = () => this.#fail(stopped(signal))
    const cancel = this.#pace.after(idleMs, () => this.#fail(tooLate(idleMs)))
    signal.addEventListener('abort', stop, { once: true })
    this.#stopWaiting = () => {
      cancel()
      signal.removeEventListener('abort', stop)
      this.#stopWaiting = null
    }
    if (signal.aborted) stop()
  }

  #fail(why: unknown): void {
    this.#stopWaiting?.()
    if (this.#ending.signal.aborted) return
    this.#failure = why
    void this.#end().catch(() => {}) // Errors of releasing the stream's resources are ignored here, since the reader gets the error that ended the stream.
  }

  async #end(): Promise<void> {
    this.#ending.abort()
    await this.#pieces.return(undefined)
  }

  #throwFailure(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure !== null) throw failure
  }
}

function stopped({ reason }: AbortSignal): unknown {
  return reason instanceof QuerentError ? reason : new QuerentError('cancelled', 'the caller cancelled the answer')
}

function tooLate(idleMs: number): QuerentError {
  return new QuerentError('deadline_exceeded', `the rest of the answer was not read for ${idleMs} ms`, {
    idle_ms: idleMs,
  })
}
