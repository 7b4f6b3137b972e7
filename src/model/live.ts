/**
 * Live queries: a subscriber gets what has changed in an answer, as events. What is watched is described by a `LiveQuery`, so
 * that every lens can be watched in the same way.
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

/** One item of an answer. */
export interface LiveItem {
  /** The same for as long as it is the same thing, whatever becomes of it. Never leaves the engine unsealed. */
  readonly key: string
  /** As it is shown: what an event of removal names. May change, as a new version may have a new id. */
  readonly id: string
  /** Where passages are ranked: its position in the entry, from 1. */
  readonly passage?: number | undefined
  /** Changes exactly when its content does, as the viewer is shown it. */
  readonly version: string
  readonly score: number
  /**
   * What its score is made of, time apart: changes exactly when something else than passing time has changed the score by
   * enough to be sent. The empty text, always: then a change of score alone is never sent.
   */
  readonly standing: string
  /** Since when there is such an item for this viewer: later than the last answer, and it is new rather than newly matching. */
  readonly since: Instant
  /** From 1. */
  readonly rank: number
  /** As an event carries it. */
  readonly shown: JsonObject
  /** Parts of `shown` by name, to say which of them changed: comparable texts. */
  readonly fields: Readonly<Record<string, string>>
}

/** What names an item. */
export type LiveName = Pick<LiveItem, 'key' | 'id' | 'passage'>

export interface LiveState {
  /** In their order, at most the limit of the question. */
  readonly items: readonly LiveItem[]
  /**
   * More match than are in it: then what fell out was outranked, else it no longer matches. Of this answer alone: what comes
   * and goes below its last place need not be a reason to ask again.
   */
  readonly full: boolean
  /** Whether an item that is not in it still matches, by its key: else it was not outranked. Absent: what fell out of a full answer does. */
  readonly matches?: ((key: string) => boolean) | undefined
  readonly asOf: Instant
  /** When time alone may next bring or take an item (a bound of validity, of a window); infinite: never. */
  readonly until: Instant
}

/** A query that can be watched, and what the engine asks of it. All synchronous parts take microseconds. */
export interface LiveQuery {
  readonly viewer: Viewer
  /** The question, canonical: what a resume token is bound to, with the viewer. */
  readonly binding: string
  /** As it is asked, told back to the subscriber: its answer is what a fresh query of exactly this would have. */
  readonly query: JsonObject
  /** How long asking may take, in milliseconds. */
  readonly timeoutMs: number
  /**
   * The whole answer as things are now. Rejects as asking would; and where time was up before it was whole, or meaning has
   * failed that had a part in the last one: what is missing from a part would be reported as gone.
   */
  ask(signal: AbortSignal): Promise<LiveState>
  /**
   * Whether what was committed since it was last called (or since `ask`) may have changed the answer for another reason than time.
   * False must be certain; hidden changes must give false.
   */
  concerned(last: LiveState): boolean
  /** Keys of these items that the viewer may no longer see, or that are gone. Read now, not from a cache. */
  lost(items: readonly LiveName[]): readonly string[]
  /**
   * Whether something outside of the store has happened that may have changed the answer. Asked many times a second. Absent:
   * nothing can.
   */
  stirred?(): boolean
  /** False: the viewer may ask this no longer; then its subscription ends, and no other. Read now. Absent: always true. */
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

/** Plain words for each reason. */
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

/** Snake case: as it goes over the wire (BQ-157). */
export interface LiveEvent {
  readonly subscription_id: string
  /** From 1, without gaps. */
  readonly seq: number
  readonly timestamp: string
  readonly type: 'added' | 'updated' | 'removed' | 'reranked'
  /** Of the item as it is shown (of a removed one: as it was). */
  readonly id: string
  /** Only where passages are ranked: the position of the item in its entry, from 1. */
  readonly passage?: number | undefined
  /** The item (under the name `item`); absent when it was removed. */
  readonly item?: JsonObject | undefined
  readonly reason: LiveReason
  /** Plain words for the reason. */
  readonly text: string
  /** previous_score, score, previous_rank, new_rank, changed_fields, previous_id: where they apply. */
  readonly details: JsonObject
  /** Reconnecting with it goes on after this event. */
  readonly resume_token: string
}

/** Defaults and bounds: BQ-156. */
export interface LiveOptions {
  /** 0 to 60,000; 1,000. */
  readonly debounceMs: number
  readonly includeRemovals: boolean
  readonly includeReranks: boolean
  /** 1 to 600; 60. */
  readonly maxEventsPerMinute: number
  readonly notifyOnConnect: boolean
  /** Null: begins again. */
  readonly resumeToken: string | null
}

export type LiveStatus = 'active' | 'paused' | 'cancelled'

export interface LiveHandlers {
  /**
   * Null: the next event would be taken at once. Else resolves when that may be so; asked again then. What is sent is looked
   * up and made after it, so that nothing goes out that was hidden while nobody took it. Absent: always null.
   */
  wanted?(): Promise<void> | null
  /** Awaited: never called again before it has ended. */
  onEvent(event: LiveEvent): void | Promise<void>
  /**
   * Each minute in which no event brings one: a token that is good from now on, so that a subscriber who hears nothing for
   * long can come back too. Also when asking, which had failed, works again and there is no event. Never while `onEvent` runs.
   */
  onToken?(token: string): void
  /** What `onEvent` threw, or what asking again failed with: the subscription goes on. */
  onError?(error: unknown): void
  /** Once, when it ends: cancelled by its owner, or by the engine (closed, no longer authorised). */
  onEnd?(why: 'cancelled' | 'closed' | 'unauthorized'): void
}

export interface Subscription {
  readonly id: string
  readonly query: JsonObject
  readonly createdAt: Instant
  readonly status: LiveStatus
  readonly eventsDelivered: number
  /** Null: none yet. */
  readonly lastEventAt: Instant | null
  /** How often a handler has thrown. */
  readonly handlerErrors: number
  /** Whether it went on from its resume token, began with the whole answer because that was no longer possible, or had none. */
  readonly began: 'anew' | 'continued' | 'resync'
  /** For going on after what was delivered so far. */
  resumeToken(): string
  pause(): void
  resume(): void
  /** Final; doing it again does nothing. No handler but `onEnd` begins after it returns. */
  cancel(): void
}

/** Keeps subscriptions; one in an engine. Lent to lenses as `LensHost.live`. */
export interface LiveQueries {
  /**
   * Resolves when the first events (of `notifyOnConnect`, or since the token) are on their way. Rejects with what asking
   * rejects with, `resume_invalid`, and `rate_limited` for more than the viewer may have; with `cancelled` when the signal
   * comes before it has begun. Later the signal cancels the subscription.
   */
  subscribe(query: LiveQuery, options: LiveOptions, handlers: LiveHandlers, signal?: AbortSignal): Promise<Subscription>
  /** Subscriptions that are active or paused: of a viewer, or all. */
  count(viewer?: Viewer): number
  /** Ends all subscriptions of a viewer who may ask no longer: one final status (`unauthorized`), no content. */
  endAll(viewer: Viewer): void
}

// A live query as a stream: for operations whose streamed form is its events.

/**
 * First a piece that says that it is active, then an event for each change; each is checked and made when it is taken, so who is
 * slow gets fewer that say as much. Where asking fails for now, a piece of type `error` says so and it goes on. While nothing
 * changes, a piece of type `alive` brings a fresh token each minute, and when asking works again. Nothing is
 * subscribed before the first piece is asked for. Ends with the signal (quietly), when its reader returns, and with the
 * subscription.
 */
export function liveStream(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm): AsyncIterable<JsonObject> {
  return { [Symbol.asyncIterator]: () => new LiveIterator(subscribe, signal, form) }
}

/** The signal ends it, also while it begins. */
type Subscribe = (handlers: LiveHandlers, signal: AbortSignal) => Promise<Subscription>

interface LiveStreamForm {
  /** How an event is put in the stream; absent: as it is. */
  readonly asPiece?: (event: LiveEvent) => JsonObject
  /** The part of a failure that the viewer sees. */
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

/** Passes values from a writer to a reader: each is made when the reader waits for it, none in advance. */
export class Channel<T> implements AsyncIterator<T, undefined> {
  /** Given while nobody waited: the newest alone. */
  #kept: { readonly value: T } | null = null
  #reader: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null
  #wanting: PromiseWithResolvers<void> | null = null

  /** Null: the reader waits now, or it is over. Else resolves when one of these may be so; to be asked again then. */
  wanted(): Promise<void> | null {
    if (this.#reader !== null || this.#end !== null) return null
    this.#wanting ??= Promise.withResolvers<void>()
    return this.#wanting.promise
  }

  /** To the waiting reader; else kept for the next time, in place of what was kept before. After the end: dropped. */
  give(value: T): void {
    if (this.#end !== null) return
    this.#kept = { value }
    this.#meet()
  }

  /** The reader comes to the end, or is thrown the error; what was kept is dropped. */
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
    // Reported once; after that it is just over.
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
