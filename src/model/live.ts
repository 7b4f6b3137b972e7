/**
 * Live queries: a subscriber receives changes of an answer as events. A `LiveQuery` describes what is watched, so that every lens can be
 * watched in the same way.
 */

import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import { QuerentError } from './errors.ts'
import { toIso } from './instant.ts'
import type { CallContext, Operation } from './operation.ts'
import { jsonObject } from './page.ts'
import { costOfAsking, type Priced, type QueryInput, queryInput } from './query-input.ts'
import { reportedError } from './reported-error.ts'
import type { Viewer } from './viewer.ts'

/** An item of a watched answer. */
export interface LiveItem {
  /** Key that identifies the item through all of its changes. Never leaves the engine unencrypted. */
  readonly key: string
  /** Id as shown, which a removal event names. It may change, since a new version may have a new id. */
  readonly id: string
  /** Where passages are ranked: the passage's position in the entry, from 1. */
  readonly passage?: number | undefined
  /** Changes exactly when the item's content as shown to the viewer does. */
  readonly version: string
  readonly score: number
  /**
   * Fingerprint of the score's inputs except time: changes exactly when something other than the passing of time has changed the score by
   * enough to be reported. Always the empty text: changes of score alone are never reported.
   */
  readonly standing: string
  /** Time since which the item exists for this viewer. Later than the last answer: the item is new, not an older one that matches now. */
  readonly since: Instant
  /** Rank of the item, from 1. */
  readonly rank: number
  /** The item as an event contains it. */
  readonly shown: JsonObject
  /** Parts of `shown` by name, as comparable texts, by which an event says which of them changed. */
  readonly fields: Readonly<Record<string, string>>
}

/** Fields that identify an item. */
export type LiveName = Pick<LiveItem, 'key' | 'id' | 'passage'>

export interface LiveState {
  /** The items in their order, at most the query's limit. */
  readonly items: readonly LiveItem[]
  /**
   * True: more items match than the answer contains, so an item that left was outranked; false: it no longer matches. Concerns this answer
   * alone: changes below its last place need not cause a new evaluation.
   */
  readonly full: boolean
  /**
   * Whether an item outside the answer still matches, by its key; if not, it was not outranked. Absent: an item that leaves a full answer
   * is assumed to match.
   */
  readonly matches?: ((key: string) => boolean) | undefined
  readonly asOf: Instant
  /** When the passing of time alone may next add or remove an item (a bound of validity or of a window); infinite: never. */
  readonly until: Instant
}

/** A query that can be watched, and what the engine needs from it. All synchronous methods take microseconds. */
export interface LiveQuery {
  readonly viewer: Viewer
  /** The query in canonical form, to which a resume token is bound together with the viewer. */
  readonly binding: string
  /** The query as evaluated, returned to the subscriber: the watched answer equals that of a fresh query of exactly this form. */
  readonly query: JsonObject
  /** Time limit of an evaluation, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Evaluates the query: the whole current answer. Rejects as the query itself would; also where time ran out before the answer was
   * complete, or meaning failed although the last answer used it: missing items would be reported as removed.
   */
  ask(signal: AbortSignal): Promise<LiveState>
  /**
   * Whether commits since the last call (or since `ask`) may have changed the answer for a reason other than time. False must be certain;
   * hidden changes must give false.
   */
  concerned(last: LiveState): boolean
  /** Keys of those items that the viewer may no longer see, or that were deleted. Read from the store, not from a cache. */
  lost(items: readonly LiveName[]): readonly string[]
  /** Whether something outside the store may have changed the answer. Called many times per second. Absent: nothing can. */
  stirred?(): boolean
  /** False: the viewer may no longer run this query, so this one subscription ends. Read from the store. Absent: always true. */
  allowed?(): boolean
}

export const LIVE_REASONS = [
  'initial',
  'new_match',
  'now_matches',
  'content_changed',
  'score_changed',
  'no_match',
  'outranked',
  'unavailable',
  'resync',
  'rank_changed',
] as const
export type LiveReason = (typeof LIVE_REASONS)[number]

/** Text for each reason of an event. */
export const LIVE_TEXTS: Readonly<Record<LiveReason, string>> = {
  initial: 'It was in the answer when the watch began.',
  new_match: 'It is new and matches.',
  now_matches: 'It existed before and is now in the answer.',
  content_changed: 'Its text has changed.',
  score_changed: 'Its text is the same, but its score has changed.',
  no_match: 'It no longer matches.',
  outranked: 'Other results now rank above it.',
  unavailable: 'It is no longer available.',
  resync: 'There were too many changes since: this is the current answer.',
  rank_changed: 'Its text is the same, but its rank has changed.',
}

/** An event in snake_case, as it is sent (BQ-157). */
export interface LiveEvent {
  readonly subscription_id: string
  /** Number of the event in its stream, from 1, without gaps. */
  readonly seq: number
  readonly timestamp: string
  readonly type: 'added' | 'updated' | 'removed' | 'reranked'
  /** Id of the item as shown; of a removed item, as it was shown. */
  readonly id: string
  /** Only where passages are ranked: the position of the item in its entry, from 1. */
  readonly passage?: number | undefined
  /** The item (named `item`); absent when it was removed. */
  readonly item?: JsonObject | undefined
  readonly reason: LiveReason
  /** The reason as a text. */
  readonly text: string
  /** Where they apply: previous_score, score, previous_rank, new_rank, changed_fields, previous_id. */
  readonly details: JsonObject
  /** Token with which a reconnected subscriber continues after this event. */
  readonly resume_token: string
}

/** Options of a subscription. Defaults and bounds: BQ-156. */
export interface LiveOptions {
  /** Milliseconds during which changes are collected: 0 to 60,000; default 1,000. */
  readonly debounceMs: number
  readonly includeRemovals: boolean
  readonly includeReranks: boolean
  /** Largest number of events per minute: 1 to 600; default 60. */
  readonly maxEventsPerMinute: number
  readonly notifyOnConnect: boolean
  /** Token of an earlier connection to continue; null: a new subscription. */
  readonly resumeToken: string | null
}

export type LiveStatus = 'active' | 'paused' | 'cancelled'

export interface LiveHandlers {
  /**
   * Whether the subscriber is ready. Null: it takes the next event at once; else the promise resolves when that may be so, and this is
   * called again. Events are made only after that, so that an event does not contain what was hidden while nobody took it. Absent: always
   * null.
   */
  wanted?(): Promise<void> | null
  /** Handles an event. Awaited: not called again before it has ended. */
  onEvent(event: LiveEvent): void | Promise<void>
  /**
   * Receives a fresh resume token in each minute without an event that has one, so that a subscriber can continue after a long silence;
   * also when evaluation works again after a failure and there is no event. Never called while `onEvent` runs.
   */
  onToken?(token: string): void
  /** Receives what `onEvent` threw, or why a new evaluation failed; the subscription continues. */
  onError?(error: unknown): void
  /** Called once when the subscription ends: cancelled by its owner, or ended by the engine (closed, no longer authorised). */
  onEnd?(why: 'cancelled' | 'closed' | 'unauthorized'): void
}

export interface Subscription {
  readonly id: string
  readonly query: JsonObject
  readonly createdAt: Instant
  readonly status: LiveStatus
  readonly eventsDelivered: number
  /** Time of the last event; null: none yet. */
  readonly lastEventAt: Instant | null
  /** How many times a handler has thrown. */
  readonly handlerErrors: number
  /**
   * How the subscription began: `continued` from its resume token; `resync`, with the whole answer, because continuing was impossible;
   * `anew`, without a token.
   */
  readonly began: 'anew' | 'continued' | 'resync'
  /** Token with which to continue after the events delivered so far. */
  resumeToken(): string
  pause(): void
  resume(): void
  /** Ends the subscription permanently; repeating it has no effect. After it returns, only `onEnd` may still be called. */
  cancel(): void
}

/** Manages subscriptions; one per engine. Provided to lenses as `LensHost.live`. */
export interface LiveQueries {
  /**
   * Starts a subscription; resolves when the first events (of `notifyOnConnect`, or since the token) are being delivered. Rejects with the
   * query's own errors, `resume_invalid`, and `rate_limited` for more subscriptions than the viewer may have; with `cancelled` when the
   * signal aborts before the start. Afterwards the signal cancels the subscription.
   */
  subscribe(query: LiveQuery, options: LiveOptions, handlers: LiveHandlers, signal?: AbortSignal): Promise<Subscription>
  /** Number of active or paused subscriptions, of a viewer or in total. */
  count(viewer?: Viewer): number
  /** Ends all subscriptions of a viewer who is no longer authorised: one final status (`unauthorized`), no content. */
  endAll(viewer: Viewer): void
}

// A live query as a stream, for operations whose streamed form consists of its events.

/**
 * The stream of a live query. The first piece says that it is active; then follows an event for each change, checked and made when it is
 * taken, so that a slow reader gets fewer events with the same outcome. While evaluation fails, a piece of type `error` says so. Without
 * changes, a piece of type `alive` brings a fresh token each minute, and when evaluation works again. The subscription starts when the
 * first piece is requested. The stream ends with the signal (without an error), when its reader returns, and with the subscription.
 */
export function liveStream(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm): AsyncIterable<JsonObject> {
  return { [Symbol.asyncIterator]: () => new LiveIterator(subscribe, signal, form) }
}

/** Starts a subscription. The signal ends it, even while it is starting. */
type Subscribe = (handlers: LiveHandlers, signal: AbortSignal) => Promise<Subscription>

interface LiveStreamForm {
  /** Converts an event to a piece of the stream; absent: used unchanged. */
  readonly asPiece?: (event: LiveEvent) => JsonObject
  /** The part of a failure that the viewer may see. */
  readonly told: (thrown: unknown) => QuerentError
}

class LiveIterator implements AsyncIterator<JsonObject, undefined> {
  readonly #subscribe: Subscribe
  readonly #signal: AbortSignal
  readonly #form: LiveStreamForm
  readonly #stopped = new AbortController()
  readonly #events = new Channel<JsonObject>()
  readonly #leave = () => this.#stop()
  #subscription: Promise<Subscription> | null = null
  #isOver = false

  constructor(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm) {
    this.#subscribe = subscribe
    this.#signal = signal
    this.#form = form
  }

  async next(): Promise<IteratorResult<JsonObject, undefined>> {
    if (this.#subscription !== null || this.#isOver) return this.#events.next()
    if (this.#signal.aborted) throw new QuerentError('cancelled', 'the caller disconnected')
    const { asPiece = (event: LiveEvent) => event as unknown as JsonObject, told } = this.#form
    this.#signal.addEventListener('abort', this.#leave, { once: true })
    const handlers: LiveHandlers = {
      wanted: () => this.#events.wanted(),
      onEvent: event => this.#events.give(asPiece(event)),
      onToken: token => this.#events.give({ type: 'alive', resume_token: token }),
      onError: thrown => this.#events.give({ type: 'error', error: told(thrown).toJSON() }),
      onEnd: why => this.#ended(why),
    }
    this.#subscription = this.#subscribe(handlers, this.#stopped.signal)
    try {
      return { done: false, value: head(await this.#subscription) }
    } catch (error) {
      const isLeft = this.#isOver
      this.#stop()
      if (isLeft) return { done: true, value: undefined }
      throw error
    }
  }

  return(): Promise<IteratorResult<JsonObject, undefined>> {
    this.#stop()
    return Promise.resolve({ done: true, value: undefined })
  }

  #stop(): void {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#leave)
    this.#events.end()
    this.#stopped.abort()
    this.#subscription?.then(
      subscription => subscription.cancel(),
      () => undefined,
    )
  }

  #ended(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    this.#events.end(why === 'cancelled' ? null : ending(why))
    this.#stop()
  }
}

function head(subscription: Subscription): JsonObject {
  return {
    type: 'subscribed',
    subscription_id: subscription.id,
    query: subscription.query,
    created_at: toIso(subscription.createdAt),
    began: subscription.began,
    resume_token: subscription.resumeToken(),
  }
}

function ending(why: 'closed' | 'unauthorized'): QuerentError {
  if (why === 'unauthorized')
    return new QuerentError('unauthenticated', 'watch: this viewer may no longer query the store')
  return new QuerentError('cancelled', 'watch: the engine was closed; continue with the last resume token')
}

/** Passes values from a writer to a reader; each value is made when the reader waits for it, none in advance. */
export class Channel<T> implements AsyncIterator<T, undefined> {
  /** The newest value given while no reader waited; older ones are replaced. */
  #kept: { readonly value: T } | null = null
  #reader: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null
  #wanting: PromiseWithResolvers<void> | null = null

  /**
   * Null when the reader is waiting, or the channel has ended. Else a promise that resolves when one of these may be true; then call again.
   */
  wanted(): Promise<void> | null {
    if (this.#reader !== null || this.#end !== null) return null
    this.#wanting ??= Promise.withResolvers<void>()
    return this.#wanting.promise
  }

  /**
   * Gives a value to the waiting reader; without one, it is kept for the next read in place of the value kept before. Dropped after the
   * end.
   */
  give(value: T): void {
    if (this.#end !== null) return
    this.#kept = { value }
    this.#meet()
  }

  /** Ends the channel: the reader gets the end or the error; a kept value is dropped. */
  end(error: unknown = null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#kept = null
    this.#meet()
    this.#notifyWanted()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#meet()
      if (this.#reader !== null) this.#notifyWanted()
    })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #meet(): void {
    const reader = this.#reader
    if (reader === null || (this.#kept === null && this.#end === null)) return
    this.#reader = null
    if (this.#kept !== null) {
      const { value } = this.#kept
      this.#kept = null
      reader.resolve({ done: false, value })
      return
    }
    const error = this.#end?.error ?? null
    // The error is thrown once; later reads just get the end.
    this.#end = { error: null }
    if (error === null) reader.resolve({ done: true, value: undefined })
    else reader.reject(error)
  }

  #notifyWanted(): void {
    this.#wanting?.resolve()
    this.#wanting = null
  }
}

// What a caller may say about a live query beside the question, checked once at the interface. Bounds and defaults: BQ-156.

/** Longest text that can be a resume token. */
const MAX_TOKEN = 16_384

/** Fields of a watch request that do not belong to the query. */
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

/** A query to be watched. Only its first page is watched, so it has no cursor. */
export interface WatchInput extends Omit<QueryInput, 'cursor' | 'touch' | 'trace'>, LiveInput {}

// The cast is needed since zod's inferred type of the whole shape would be no shorter than the interface above.
export const watchInput: z.ZodType<WatchInput> = (queryInput as unknown as z.ZodObject)
  .omit({ cursor: true, touch: true, trace: true })
  .extend(LIVE_FIELDS) as unknown as z.ZodType<WatchInput>

/** Splits a watch request into the query and the options of the subscription. */
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

// Operations whose result is an endless stream of events: one for each change of a query's answer.

/** Schema of the stream's pieces after the first, which says that the subscription is active; `run` gives none. */
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
    // The cast is safe: fields that do not affect the price are ignored.
    cost: asked => costOfAsking(asked as Priced),
    run: () => Promise.reject(onlyStreamed(name)),
    stream: (host, asked, context) =>
      liveStream((handlers, signal) => subscribe(host, asked, handlers, { ...context, signal }), context.signal, {
        told: thrown => reportedError(thrown, context.viewer),
      }),
  }
}

/** Error: an operation without an end has no single result, only a stream. */
function onlyStreamed(operation: string): QuerentError {
  const how = 'use `querent watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'
  return new QuerentError('invalid_argument', `${operation}: its answer is an endless stream of events; ${how}`, {
    operation,
  })
}
