/** What a caller may say about a live query beside the question, checked once at the interface. Bounds and defaults: BQ-156. */
import { z } from 'zod'
import type { LiveOptions } from './live.ts'
import { type QueryInput, queryInput } from './query-input.ts'

export interface LiveInput {
  readonly debounce_ms?: number | undefined
  readonly include_removals?: boolean | undefined
  readonly include_reranks?: boolean | undefined
  readonly max_events_per_minute?: number | undefined
  readonly notify_on_connect?: boolean | undefined
  readonly resume_token?: string | undefined
}

/** Tokens are shorter: what is longer is none. */
const MAX_TOKEN = 16_384

/** What is not of the question. */
export const LIVE_FIELDS = {
  debounce_ms: z
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe('Changes are gathered for so long, in milliseconds. Default: 1000'),
  include_removals: z.boolean().optional().describe('Report results that leave the answer. Default: true'),
  include_reranks: z.boolean().optional().describe('Tell what only changes its place. Default: false'),
  max_events_per_minute: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe('What is above waits and is told together later. Default: 60'),
  notify_on_connect: z.boolean().optional().describe('Report the current results first. Default: true'),
  resume_token: z
    .string()
    .min(1)
    .max(MAX_TOKEN)
    .optional()
    .describe('Go on after the event that had this token. Default: begin now'),
}

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
