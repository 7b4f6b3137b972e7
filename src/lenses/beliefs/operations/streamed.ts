/** The streamed form of `beliefs.query`: ends when it is done, left, cancelled, or idle for too long (BQ-153, BQ-154). */
import type { JsonObject } from '../../../base/canonical.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { streamQuery } from '../paging/stream.ts'
import { type Query, toQuery } from '../schema/query.ts'
import { failureIn, inCall } from './call.ts'

/** Between a chunk and the question for the next. */
export const IDLE_MS = 60_000

/** Calls back after so long; the result calls that off. */
export type Timer = (ms: number, run: () => void) => () => void

const machineTimer: Timer = (ms, run) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

export function streamInCall(
  host: LensHost,
  input: Query,
  context: CallContext,
  timer: Timer = machineTimer,
): AsyncIterableIterator<JsonObject> {
  return new GuardedStream(host, chunksOf(host, input, context), context.signal, timer)
}

async function* chunksOf(host: LensHost, input: Query, context: CallContext): AsyncGenerator<JsonObject, void> {
  const chunks = await inCall(host, context, call => streamQuery(call.state, toQuery(input, call.agent), call))
  try {
    // The cast: chunks are plain data, but their interfaces have no index signature.
    for await (const chunk of chunks) yield chunk as unknown as JsonObject
  } catch (thrown) {
    throw failureIn(host, thrown)
  }
}

class GuardedStream implements AsyncIterableIterator<JsonObject> {
  readonly #host: LensHost
  readonly #timer: Timer
  readonly #signal: AbortSignal
  /** Null: it has ended. */
  #chunks: AsyncGenerator<JsonObject, void> | null
  #callOff: () => void = () => undefined
  #isIdle = false

  constructor(host: LensHost, chunks: AsyncGenerator<JsonObject, void>, signal: AbortSignal, timer: Timer) {
    this.#host = host
    this.#chunks = chunks
    this.#signal = signal
    this.#timer = timer
    signal.addEventListener('abort', this.#onAbort)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<JsonObject, void>> {
    this.#callOff()
    if (this.#isIdle) {
      this.#isIdle = false
      const message = 'the stream was ended: nobody asked for its next piece'
      throw failureIn(this.#host, new BeliefsError('TIMEOUT', message, { elapsed_ms: IDLE_MS }))
    }
    const chunks = this.#chunks
    if (chunks === null || this.#signal.aborted) return this.return()
    try {
      const next = await chunks.next()
      // Cancelled while it was made: no chunk follows.
      if (next.done === true || this.#chunks === null) return this.return()
      this.#callOff = this.#timer(IDLE_MS, () => this.#onIdle())
      return next
    } catch (thrown) {
      const isCancelled = this.#signal.aborted
      this.#end()
      if (isCancelled) return { done: true, value: undefined }
      throw thrown
    }
  }

  async return(): Promise<IteratorResult<JsonObject, void>> {
    this.#end()
    return { done: true, value: undefined }
  }

  readonly #onAbort = (): void => this.#end()

  #onIdle(): void {
    this.#isIdle = this.#chunks !== null
    this.#end()
  }

  /** What it held is free when this returns, or when the piece that is being made is there. */
  #end(): void {
    this.#callOff()
    this.#signal.removeEventListener('abort', this.#onAbort)
    const chunks = this.#chunks
    this.#chunks = null
    // Nothing is left to fail: what a piece fails with is told to who asked for it.
    chunks?.return().catch(() => undefined)
  }
}
