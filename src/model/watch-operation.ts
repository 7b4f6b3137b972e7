/** Operations whose answer is a stream of events without end: one for each change of the answer to a query. */
import { z } from 'zod'
import { QuerentError } from './errors.ts'
import { LIVE_REASONS, type LiveEvent, type LiveHandlers, type Subscription } from './live.ts'
import { liveStream } from './live-stream.ts'
import type { CallContext, Operation } from './operation.ts'
import { jsonObject } from './page-output.ts'
import { costOfAsking, type Priced } from './query-cost.ts'
import { reportedError } from './told-error.ts'

/** Its pieces after the first, which says that it is active; `run` gives none. */
const eventOutput: z.ZodType<LiveEvent> = z.strictObject({
  subscription_id: z.string().describe('Of the stream'),
  seq: z.int().describe('Number of the event in its stream, from 1'),
  timestamp: z.string().describe('When the change was seen, ISO 8601'),
  type: z.enum(['added', 'updated', 'removed', 'reranked']).describe('What happened to the result'),
  id: z.string().describe('Of the entry'),
  passage: z.int().min(1).optional().describe('Where group is passage: its position in the entry, from 1'),
  item: jsonObject.optional().describe('The result as a query gives it; absent where it left the answer'),
  reason: z.enum(LIVE_REASONS).describe('What caused it, in a word'),
  text: z.string().describe('What happened, in a sentence'),
  details: jsonObject.describe('Figures of the change, such as the rank before'),
  resume_token: z.string().describe('Goes on after this event'),
})

export interface WatchOperation<Host, Name extends string, Input extends z.ZodType> {
  readonly name: Name
  readonly summary: string
  readonly input: Input
  subscribe(host: Host, input: z.output<Input>, handlers: LiveHandlers, context: CallContext): Promise<Subscription>
}

export function watchOperation<Host, const Name extends string, Input extends z.ZodType>({
  name,
  summary,
  input,
  subscribe,
}: WatchOperation<Host, Name, Input>): Operation<Host, Input, typeof eventOutput> & { readonly name: Name } {
  return {
    name,
    summary,
    input,
    output: eventOutput,
    effect: { kind: 'read', idempotent: true },
    resumeAt: 'resume_token',
    // The cast: what of it is no price is left out of account.
    cost: asked => costOfAsking(asked as Priced),
    run: () => Promise.reject(onlyStreamed(name)),
    stream: (host, asked, context) =>
      liveStream((handlers, signal) => subscribe(host, asked, handlers, { ...context, signal }), context.signal, {
        told: thrown => reportedError(thrown, context.viewer),
      }),
  }
}

/** What has no end has no answer. */
function onlyStreamed(operation: string): QuerentError {
  const how = 'use `querent watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'
  return new QuerentError('invalid_argument', `${operation}: it has no answer but events, without end; ${how}`, {
    operation,
  })
}
