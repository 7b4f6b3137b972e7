/** Watching: a query that stands (BQ-156 to BQ-169). */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import type { Subscription } from '../../../model/live.ts'
import { liveStream } from '../../../model/live-stream.ts'
import type { CallContext, Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { anything, described, OBJECT, TEXT } from '../../wire-schema.ts'
import { isRecord } from '../check/shapes.ts'
import { BeliefsError } from '../errors.ts'
import { asBeliefEvent, subscribeTo } from '../live/watch.ts'
import { failureIn, inCall } from './call.ts'
import { BODY_LIMIT, costOfQuery } from './cost.ts'
import { A_QUERY } from './query-ops.ts'

const watch: Operation<LensHost> = {
  name: 'beliefs.watch',
  summary: 'Ask a query that stands, and tell which beliefs come into its answer, change in it, or go',
  input: anything(
    {
      query: described(
        A_QUERY,
        'As beliefs.query takes it, without offset and cursor: its first limit results are watched',
      ),
      options: described(
        OBJECT,
        'debounce_ms, include_removals, include_reranks, max_events_per_minute, notify_on_connect',
      ),
      resume_token: described(TEXT, 'Of the last event that came: goes on after it'),
    },
    ['query'],
  ),
  output: z.never() as unknown as z.ZodType<object>,
  effect: { kind: 'read', idempotent: true },
  resumeAt: 'resume_token',
  cost: input => costOfQuery(isRecord(input) ? input['query'] : undefined),
  bodyLimit: BODY_LIMIT,
  run: (host, _input, context) =>
    inCall(host, context, () => {
      const constraint = 'to be answered as a stream'
      throw new BeliefsError('INVALID_QUERY', ONLY_STREAMED, { path: 'input', constraint, reason: 'only_streamed' })
    }),
  stream: (host, input, context) => ended(host, eventsOf(host, input, context)),
}

const ONLY_STREAMED =
  'beliefs.watch: it has no answer but events, without end; use `querent beliefs watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'

export const WATCH_OPERATIONS: readonly Operation<LensHost>[] = [watch]

function eventsOf(host: LensHost, input: unknown, context: CallContext): AsyncIterable<JsonObject> {
  return liveStream(
    (handlers, signal) =>
      inCall(
        host,
        context,
        ({ state, asker }): Promise<Subscription> => subscribeTo(state, asker, input, handlers, { ...context, signal }),
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
