/**
 * Live queries: a subscriber to a query receives each change of its answer as an event. A `LiveQuery` describes the watched query, so that
 * the queries of every lens can be watched in the same way.
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

/** An item (result) of a watched answer. */
export interface LiveItem {
  /** Key that identifies the item through all changes of its content and id. It leaves the engine only encrypted. */
  readonly key: string
  /**
   * Id of the item as shown to the viewer; an event about its removal names this id. The id may change, since a new version of the item may
   * have a new one.
   */
  readonly id: string
  /** Position of the passage in its entry, from 1; only where passages are ranked. */
  readonly passage?: number | undefined
  /** Fingerprint of the item's content as the viewer sees it; it changes exactly when that content does. */
  readonly version: string
  readonly score: number
  /**
   * Fingerprint of the inputs of the item's score except time: it changes exactly when something other than the passing of time changed the
   * score by enough to be reported. The empty text: changes of score alone are never reported.
   */
  readonly standing: string
  /**
   * Time since which the item has existed for this viewer. If it is later than the last answer, the item is new, rather than an older item
   * that matches now.
   */
  readonly since: Instant
  /** Rank of the item in the answer, from 1. */
  readonly rank: number
  /** The item in the form in which an event contains it. */
  readonly shown: JsonObject
  /** The parts of `shown` by name, each as a text that can be compared, from which an event lists the changed parts. */
  readonly fields: Readonly<Record<string, string>>
}

/** The fields by which an item of a watched answer is identified. */
export type LiveName = Pick<LiveItem, 'key' | 'id' | 'passage'>

export interface LiveState {
  /** Items of the answer in ranked order, at most the query's limit. */
  readonly items: readonly LiveItem[]
  /**
   * True: more items match than the answer contains, so an item that left the answer was outranked. False: an item that left no longer
   * matches. Holds for this evaluation only, since changes below the last place need not cause another evaluation.
   */
  readonly full: boolean
  /**
   * Function that says whether the item with this key still matches although it is outside the answer. If it returns false, the item left
   * because it no longer matches. Absent: an item that leaves a full answer counts as outranked.
   */
  readonly matches?: ((key: string) => boolean) | undefined
  readonly asOf: Instant
  /** Next time at which the passing of time alone may add or remove an item, such as the end of an entry's validity; infinite: never. */
  readonly until: Instant
}

/**
 * A query that can be watched, with the functions by which the engine watches it. Functions that return no promise must take only
 * microseconds.
 */
export interface LiveQuery {
  readonly viewer: Viewer
  /** Canonical form of the query. A resume token is bound to it and to the viewer. */
  readonly binding: string
  /**
   * The query in the form in which it is evaluated, as returned to the subscriber: the watched answer equals that of a new query of exactly
   * this form.
   */
  readonly query: JsonObject
  /** Time limit of one evaluation, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Loads what a process loads once for all such queries, which may take seconds. Called before the first evaluation, outside its time
   * limit; rejects if the signal is aborted. Absent: nothing is to be loaded.
   */
  load?(signal: AbortSignal): Promise<void>
  /**
   * Evaluates the query and returns the whole current answer. Rejects with the query's own errors. Rejects also where time ran out, or
   * where the search by meaning failed although the last answer used it: missing items would otherwise be reported as removed.
   */
  ask(signal: AbortSignal): Promise<LiveState>
  /**
   * Whether the commits since the last call of `concerned` or `ask` may have changed the answer, apart from the passing of time. False may
   * be returned only when they certainly did not, and must be returned for changes that the viewer may not see.
   */
  concerned(last: LiveState): boolean
  /** Keys of those of the given items that were deleted or that the viewer may no longer see; read from the store, not from a cache. */
  lost(items: readonly LiveName[]): readonly string[]
  /**
   * Whether something outside the store may have changed the answer; called many times per second. Absent: nothing outside the store
   * affects the answer.
   */
  stirred?(): boolean
  /** Whether the viewer may still run this query, read from the store; false ends this subscription alone. Absent: always true. */
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

/** The sentence that explains each reason of an event to people. */
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

/** An event with snake_case names, as it is sent to subscribers (BQ-157). */
export interface LiveEvent {
  readonly subscription_id: string
  /** Number of the event in its subscription, from 1, without gaps. */
  readonly seq: number
  readonly timestamp: string
  readonly type: 'added' | 'updated' | 'removed' | 'reranked'
  /** Id of the item as shown to the viewer; for a removed item, as it was last shown. */
  readonly id: string
  /** Position of the passage in its entry, from 1; only where passages are ranked. */
  readonly passage?: number | undefined
  /** The changed item (a result of the query); absent when it was removed. */
  readonly item?: JsonObject | undefined
  readonly reason: LiveReason
  /** The reason as a sentence. */
  readonly text: string
  /** Figures of the change, where they apply: previous_score, score, previous_rank, new_rank, changed_fields, previous_id. */
  readonly details: JsonObject
  /** Token with which a subscriber that lost its connection continues after this event. */
  readonly resume_token: string
}

/** Options of a subscription to a query. Defaults and bounds: BQ-156. */
export interface LiveOptions {
  /** Time for which changes are collected before they are sent, in milliseconds: 0 to 60,000; default 1,000. */
  readonly debounceMs: number
  readonly includeRemovals: boolean
  readonly includeReranks: boolean
  /** Largest number of events sent per minute: 1 to 600; default 60. */
  readonly maxEventsPerMinute: number
  readonly notifyOnConnect: boolean
  /** Resume token of an earlier connection that this subscription continues; null: the subscription is new. */
  readonly resumeToken: string | null
}

export type LiveStatus = 'active' | 'paused' | 'cancelled'

export interface LiveHandlers {
  /**
   * Called before each event: whether the subscriber can take it. Null: it can at once. A promise: `wanted` is called again once it
   * resolves. An event is made only when it can be taken, so that it contains nothing hidden from the viewer meanwhile. Absent: always
   * null.
   */
  wanted?(): Promise<void> | null
  /** Handles an event; the next event is given only after the returned promise has resolved. */
  onEvent(event: LiveEvent): void | Promise<void>
  /**
   * Receives a new resume token in each minute without an event (events bring tokens too), so that a subscriber can continue after a long
   * silence; also when evaluation works again after a failure without causing an event. Never called while `onEvent` runs.
   */
  onToken?(token: string): void
  /** Receives errors that `onEvent` threw, and errors of a new evaluation; the subscription continues. */
  onError?(error: unknown): void
  /**
   * Called once when the subscription ends. `cancelled`: by the subscriber; `closed`: the engine closed; `unauthorized`: the viewer may no
   * longer query.
   */
  onEnd?(why: 'cancelled' | 'closed' | 'unauthorized'): void
}

export interface Subscription {
  readonly id: string
  readonly query: JsonObject
  readonly createdAt: Instant
  readonly status: LiveStatus
  readonly eventsDelivered: number
  /** Time of the last event of the subscription; null: there was none yet. */
  readonly lastEventAt: Instant | null
  /** How many times a handler of the subscription has thrown an error. */
  readonly handlerErrors: number
  /**
   * How the subscription began: as a new one, without a resume token; `continued`, from its resume token; or `resync`, with the whole
   * answer, because it could not be continued from the token.
   */
  readonly began: 'anew' | 'continued' | 'resync'
  /** The token with which a later subscription continues after the events delivered so far. */
  resumeToken(): string
  pause(): void
  resume(): void
  /** Ends the subscription for good; further calls have no effect. Afterwards no handler but `onEnd` is called. */
  cancel(): void
}

/** The engine's manager of subscriptions to queries, one per engine. Lenses reach it as `LensHost.live`. */
export interface LiveQueries {
  /**
   * Starts a subscription. Resolves when the first events (the current results, or changes since the token) are being delivered. Rejects
   * with the query's own errors, with `resume_invalid`, with `rate_limited` where the viewer has too many subscriptions, and with
   * `cancelled` when the signal aborts before the start; later the signal cancels the subscription.
   */
  subscribe(query: LiveQuery, options: LiveOptions, handlers: LiveHandlers, signal?: AbortSignal): Promise<Subscription>
  /** Number of subscriptions that are active or paused: of one viewer, or of all. */
  count(viewer?: Viewer): number
  /** Ends all subscriptions of a viewer who is no longer authorised. Each gets the final status `unauthorized`, and no content any more. */
  endAll(viewer: Viewer): void
}

// Makes a stream of the events of a live query, for operations that have a streamed form.

/**
 * The stream of events of a live query. Its first piece says that the subscription is active, and requesting that piece starts the
 * subscription. Then follow:
 * - an event for each change, made only when the reader takes it, so that a slow reader gets fewer events with the same outcome;
 * - a piece of type `error` when evaluation fails;
 * - a piece of type `alive` with a new resume token in each minute without changes, and when evaluation works again.
 * The stream ends with the signal (without an error), when its reader stops, and with the subscription.
 */
export function liveStream(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm): AsyncIterable<JsonObject> {
  return { [Symbol.asyncIterator]: () => new LiveIterator(subscribe, signal, form) }
}

/** Function that starts a subscription. The signal ends the subscription, even while it is starting. */
type Subscribe = (handlers: LiveHandlers, signal: AbortSignal) => Promise<Subscription>

interface LiveStreamForm {
  /** Converts an event to a piece of the stream; absent: events are pieces as they are. */
  readonly asPiece?: (event: LiveEvent) => JsonObject
  /** Converts an error to the form that the viewer may see. */
  readonly errorOf: (thrown: unknown) => QuerentError
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
    const { asPiece = (event: LiveEvent) => event as unknown as JsonObject, errorOf } = this.#form
    this.#signal.addEventListener('abort', this.#leave, { once: true })
    const handlers: LiveHandlers = {
      wanted: () => this.#events.wanted(),
      onEvent: event => this.#events.give(asPiece(event)),
      onToken: token => this.#events.give({ type: 'alive', resume_token: token }),
      onError: thrown => this.#events.give({ type: 'error', error: errorOf(thrown).toJSON() }),
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

/** Passes values from a writer to a reader, one at a time: the writer makes a value only when the reader waits for it. */
export class Channel<T> implements AsyncIterator<T, undefined> {
  /** The last value given while no reader waited; a newer value replaces it. */
  #kept: { readonly value: T } | null = null
  #reader: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null
  #wanting: PromiseWithResolvers<void> | null = null

  /**
   * Whether a value can be given now. Null: the reader is waiting, or the channel has ended. Otherwise a promise: once it resolves, call
   * `wanted` again.
   */
  wanted(): Promise<void> | null {
    if (this.#reader !== null || this.#end !== null) return null
    this.#wanting ??= Promise.withResolvers<void>()
    return this.#wanting.promise
  }

  /**
   * Gives a value to the waiting reader. If none waits, the value is kept for the next read, in place of a value kept before. After the end
   * of the channel, values are dropped.
   */
  give(value: T): void {
    if (this.#end !== null) return
    this.#kept = { value }
    this.#meet()
  }

  /** Ends the channel: the reader gets the end, or the error if one is given; a value kept for the reader is dropped. */
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
    // The error is thrown by the first read after the end; later reads return the end.
    this.#end = { error: null }
    if (error === null) reader.resolve({ done: true, value: undefined })
    else reader.reject(error)
  }

  #notifyWanted(): void {
    this.#wanting?.resolve()
    this.#wanting = null
  }
}

// Schema of the options of a live query (all fields except the query), checked once at the interface. Bounds and defaults: BQ-156.

/** Longest text accepted as a resume token, in characters. */
const MAX_TOKEN = 16_384

/** The fields of a watch request that are options of the subscription, not parts of the query. */
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

/** Input for watching a query. Only the first page of its answer is watched, so it has no cursor. */
export interface WatchInput extends Omit<QueryInput, 'cursor' | 'touch' | 'trace'>, LiveInput {}

// A cast, because the type that zod infers for the whole schema would be as long as the schema itself.
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

// Operations that watch a query: the result is an endless stream of events, one for each change of the query's answer.

/**
 * Schema of the pieces of the stream that are events; the first piece says only that the subscription is active. A call without streaming
 * has no output.
 */
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
    // The cast is safe, because only the input's fields that determine the cost in units are read.
    cost: asked => costOfAsking(asked as Priced),
    run: () => Promise.reject(onlyStreamed(name)),
    stream: (host, asked, context) =>
      liveStream((handlers, signal) => subscribe(host, asked, handlers, { ...context, signal }), context.signal, {
        errorOf: thrown => reportedError(thrown, context.viewer),
      }),
  }
}

/** Error: an operation whose stream has no end was called for a single result. */
function onlyStreamed(operation: string): QuerentError {
  const how = 'use `querent watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'
  return new QuerentError('invalid_argument', `${operation}: its answer is an endless stream of events; ${how}`, {
    operation,
  })
}
