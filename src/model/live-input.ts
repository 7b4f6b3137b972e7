/** What a caller may say about a live query beside the question, checked once at the interface. Bounds and defaults: BQ-156. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import { QuerentError } from './errors.ts'
import {
  LIVE_REASONS,
  type LiveEvent,
  type LiveHandlers,
  type LiveOptions,
  liveStream,
  type Subscription,
} from './live.ts'
import type { CallContext, Operation } from './operation.ts'
import { jsonObject } from './page.ts'
import { costOfAsking, type Priced, type QueryInput, queryInput } from './query-input.ts'
import { reportedError } from './reported-error.ts'

/** Tokens are shorter: what is longer is none. */
const MAX_TOKEN = 16_384

/** What is not of the question. */
export const LIVE_FIELDS = {
  debounce_ms: z
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe('Time for which changes are collected, in milliseconds. Default: 1000'),
  include_removals: z.boolean().optional().describe('Report results that leave the answer. Default: true'),
  include_reranks: z.boolean().optional().describe('Report results that only change their rank. Default: false'),
  max_events_per_minute: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe('Most events per minute; more of them are merged and sent later. Default: 60'),
  notify_on_connect: z.boolean().optional().describe('Report the current results first. Default: true'),
  resume_token: z
    .string()
    .min(1)
    .max(MAX_TOKEN)
    .optional()
    .describe('Continue after the event with this token. Default: begin now'),
}

export type LiveInput = ReadonlyDeep<z.output<z.ZodObject<typeof LIVE_FIELDS>>>

/** A question to be watched. What is watched is its first page: there is no cursor. */
export interface WatchInput extends Omit<QueryInput, 'cursor' | 'touch' | 'trace'>, LiveInput {}

// The cast: zod's type of the whole shape is no shorter than the interface above.
export const watchInput: z.ZodType<WatchInput> = (queryInput as unknown as z.ZodObject)
  .omit({ cursor: true, touch: true, trace: true })
  .extend(LIVE_FIELDS) as unknown as z.ZodType<WatchInput>

/** The question and how it is to be watched, apart. */
export function partWatchInput(input: WatchInput): { readonly query: QueryInput; readonly options: LiveOptions } {
  const isLive = (name: string) => Object.hasOwn(LIVE_FIELDS, name)
  const query = Object.fromEntries(Object.entries(input).filter(([name]) => !isLive(name)))
  return { query: query as unknown as QueryInput, options: liveOptions(input) }
}

export function liveOptions(input: LiveInput): LiveOptions {
  return {
    debounceMs: input.debounce_ms ?? 1000,
    includeRemovals: input.include_removals ?? true,
    includeReranks: input.include_reranks ?? false,
    maxEventsPerMinute: input.max_events_per_minute ?? 60,
    notifyOnConnect: input.notify_on_connect ?? true,
    resumeToken: input.resume_token ?? null,
  }
}

// Operations whose answer is a stream of events without end: one for each change of the answer to a query.

/** Its pieces after the first, which says that it is active; `run` gives none. */
const eventOutput: z.ZodType<LiveEvent> = z.strictObject({
  subscription_id: z.string().describe('Id of the stream'),
  seq: z.int().describe('Number of the event in its stream, from 1'),
  timestamp: z.string().describe('When the change was seen, ISO 8601'),
  type: z.enum(['added', 'updated', 'removed', 'reranked']).describe('What happened to the result'),
  id: z.string().describe('Id of the entry'),
  passage: z.int().min(1).optional().describe('With group passage: its position in the entry, from 1'),
  item: jsonObject.optional().describe('The result as a query gives it; absent if it left the answer'),
  reason: z.enum(LIVE_REASONS).describe('Cause, in one word'),
  text: z.string().describe('What happened, in a sentence'),
  details: jsonObject.describe('Figures of the change, such as the rank before'),
  resume_token: z.string().describe('Token to continue after this event'),
})

interface WatchOperation<Host, Name extends string, Input extends z.ZodType> {
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
  return new QuerentError('invalid_argument', `${operation}: its answer is an endless stream of events; ${how}`, {
    operation,
  })
}
