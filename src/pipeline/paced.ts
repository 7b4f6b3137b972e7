/**
 * An answer piece by piece, at the pace of whoever reads it: a piece is made when it is asked for, and what the pieces hold
 * is let go when they end, when the reader returns or says stop, and when nobody has asked for the next one for too long.
 */
import { QuerentError } from '../model/errors.ts'

/** How long a reader may take between two pieces, in machine time. */
export const MAX_IDLE_MS = 60_000

export interface Pace {
  readonly signal: AbortSignal
  readonly idleMs: number
  /** Machine time: calls back once; returns what prevents it. */
  after(ms: number, callback: () => void): () => void
}

/** `begin` gets a signal that says stop for all these reasons. */
export function paced<T>(begin: (signal: AbortSignal) => AsyncGenerator<T>, pace: Pace): AsyncIterableIterator<T> {
  return new Paced(begin, pace)
}

class Paced<T> implements AsyncIterableIterator<T> {
  readonly #pieces: AsyncGenerator<T>
  readonly #pace: Pace
  readonly #ending = new AbortController()
  /** Why it ended before its time; reported once, to the request for the next piece. */
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

  /** For the reader; it may also go away without a word. */
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
    void this.#end().catch(() => {}) // the reader learns why it ended, not how
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
