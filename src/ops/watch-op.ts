/** Watching: a question that stands, and an event for each change of its answer. */
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { QuerentError } from '../model/errors.ts'
import { LIVE_REASONS, type LiveEvent } from '../model/live.ts'
import { watchInput } from '../model/live-input.ts'
import { liveStream } from '../model/live-stream.ts'
import type { Operation } from '../model/operation.ts'
import { costOfAsking } from '../model/query-cost.ts'
import { jsonObject } from './page-output.ts'
import { toldError } from './told-error.ts'

/** Its pieces after the first, which says that it stands; `run` gives none. */
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

export const watch: Operation<Engine, typeof watchInput, typeof eventOutput> = {
  name: 'watch',
  summary: 'Ask a question and tell what changes in its answer, as it changes',
  input: watchInput,
  output: eventOutput,
  effect: { kind: 'read', idempotent: true },
  resumeAt: 'resume_token',
  cost: costOfAsking,
  run: () => Promise.reject(onlyStreamed('watch')),
  stream: (engine, input, context) =>
    liveStream((handlers, signal) => engine.subscribe(input, handlers, { ...context, signal }), context.signal, {
      told: thrown => toldError(thrown, context.viewer),
    }),
}

/** What has no end has no answer. */
function onlyStreamed(operation: string): QuerentError {
  const how = 'use `querent watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'
  return new QuerentError('invalid_argument', `${operation}: it has no answer but events, without end; ${how}`, {
    operation,
  })
}
