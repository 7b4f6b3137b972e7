/** Watching: a live query (BQ-156 to BQ-169). */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import type { Subscription } from '../../../model/live.ts'
import { liveStream } from '../../../model/live-stream.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { asBeliefEvent, subscribeTo } from '../live/subscriptions.ts'
import { type Watch, watchInput } from '../schema/questions.ts'
import { failureIn, inCall, operation } from './call.ts'
import { BODY_LIMIT, costOf } from './cost.ts'

const watch = operation({
  name: 'beliefs.watch',
  summary: 'Ask a query that stands, and tell which beliefs come into its answer, change in it, or go',
  input: watchInput,
  output: z.never(),
  effect: { kind: 'read', idempotent: true },
  resumeAt: 'resume_token',
  cost: ({ query }) => costOf(query.options),
  bodyLimit: BODY_LIMIT,
  run: () => {
    const constraint = 'to be answered as a stream'
    throw new BeliefsError('INVALID_QUERY', ONLY_STREAMED, { path: 'input', constraint, reason: 'only_streamed' })
  },
  // The cast: what the schema gave.
  stream: (host, input, context) => ended(host, eventsOf(host, input as Watch, context)),
})

const ONLY_STREAMED =
  'beliefs.watch: it has no answer but events, without end; use `querent beliefs watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'

export const WATCH_OPERATIONS = [watch] as const

function eventsOf(host: LensHost, input: Watch, context: CallContext): AsyncIterable<JsonObject> {
  return liveStream(
    (handlers, signal) =>
      inCall(
        host,
        context,
        ({ state, agent }): Promise<Subscription> => subscribeTo(state, agent, input, handlers, { ...context, signal }),
      ),
    context.signal,
    { asPiece: asBeliefEvent, told: thrown => failureIn(host, thrown) },
  )
}

/** The one status with which it ends is of the lens's codes too. */
function ended(host: LensHost, pieces: AsyncIterable<JsonObject>): AsyncIterable<JsonObject> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        next: () =>
          iterator.next().catch(thrown => {
            throw thrown instanceof BeliefsError && thrown.requestId !== '' ? thrown : failureIn(host, thrown)
          }),
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      }
    },
  }
}
