/** The streamed form of `beliefs.query`: ends when it is done, left, cancelled, or idle for too long (BQ-153, BQ-154). */
import type { JsonObject } from '../../../base/canonical.ts'
import type { CallContext } from '../../../model/operation.ts'
import { MOST_IDLE_MS, type Pace, paced } from '../../../pipeline/paced.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { streamQuery } from '../paging/stream.ts'
import { type Query, toQuery } from '../schema/query.ts'
import { failureIn, inCall } from './call.ts'

/** A stream that nobody reads keeps no process alive. */
const untilIdle: Pace['after'] = (ms, callback) => {
  const timer = setTimeout(callback, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

export function streamInCall(
  host: LensHost,
  input: Query,
  context: CallContext,
  after: Pace['after'] = untilIdle,
): AsyncIterableIterator<JsonObject> {
  const { signal } = context
  const pace = { signal, idleMs: MOST_IDLE_MS, after }
  const pieces = paced(stop => chunksOf(host, input, { ...context, signal: stop }), pace)
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () =>
      pieces.next().catch((thrown: unknown): IteratorResult<JsonObject> => {
        // No piece follows for whoever has said stop, and no error.
        if (signal.aborted) return { done: true, value: undefined }
        throw thrown instanceof BeliefsError ? thrown : failureIn(host, idle())
      }),
    return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
  }
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

function idle(): BeliefsError {
  const message = 'the stream was ended: nobody asked for its next piece'
  return new BeliefsError('TIMEOUT', message, { elapsed_ms: MOST_IDLE_MS })
}
