/** Subscriptions to live queries over beliefs, for programs that use this package as a library (BQ-156, BQ-163, BQ-166, BQ-168). */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import { toIso } from '../../../model/instant.ts'
import {
  type LiveEvent,
  type LiveHandlers,
  type LiveInput,
  type LiveReason,
  liveOptions,
  type Subscription,
} from '../../../model/live.ts'
import type { CallContext } from '../../../model/operation.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import type { Belief } from '../model.ts'
import { inCall } from '../operations/belief-operation.ts'
import { parseRequest } from '../schema/faults.ts'
import { type Requester, toContext } from '../schema/filters.ts'
import { type BeliefQuery, type Query, toQuery } from '../schema/query.ts'
import { type Watch, watchInput } from '../schema/questions.ts'
import type { BeliefsState } from '../state.ts'
import { LiveBeliefQuery } from './live-belief-query.ts'
import { LiveOverNodes } from './live-over-nodes.ts'

export interface BeliefEvent {
  readonly subscription_id: string
  /** Sequence number of the event in its subscription: from 1, without gaps. */
  readonly seq: number
  readonly timestamp: string
  readonly type: LiveEvent['type']
  /** Id of the belief's version as shown; for a removed belief, the id that was shown last. */
  readonly id: string
  /** The belief as shown; absent if the event removes it. */
  readonly belief?: Belief
  readonly reason: LiveReason
  readonly text: string
  /**
   * Details of the event, each present only where it applies: previous_score, score, previous_rank, new_rank, changed_fields, previous_id.
   */
  readonly details: JsonObject
  /** Token with which a new connection can continue the subscription after this event. */
  readonly resume_token: string
}

export interface SubscribeOptions extends LiveInput {
  /** Called when the event callback throws, or when computing the answer again fails; the subscription continues. */
  readonly on_error?: (error: unknown) => void
  /**
   * Called once when the subscription has ended: cancelled, closed with the engine, or because the requester may no longer run the query.
   */
  readonly on_end?: (why: 'cancelled' | 'closed' | 'unauthorized') => void
}

export type BeliefCallback = (event: BeliefEvent) => void | Promise<void>

export interface BeliefSubscription {
  readonly id: string
  readonly query: BeliefQuery
  readonly created_at: string
  readonly status: 'active' | 'paused' | 'cancelled'
  readonly events_delivered: number
  readonly last_event_at: string | null
  /** Number of times that the event callback threw an error. */
  readonly callback_errors: number
  /**
   * Whether the subscription is new or continues from a token. `resync`: it cannot continue, so the subscriber must discard its results;
   * the whole answer is sent again, even if it is empty.
   */
  readonly began: Subscription['began']
  /**
   * Returns a token with which the subscription can be continued after the events delivered so far; valid for ten minutes, also in another
   * process.
   */
  resume_token(): string
  pause(): void
  resume(): void
  /** Ends the subscription; further calls have no effect. */
  cancel(): void
}

export interface SubscriptionGroup {
  readonly subscriptions: readonly BeliefSubscription[]
  pause_all(): void
  resume_all(): void
  cancel_all(): void
}

/** Subscribes to a query over beliefs. Throws the same input errors as the operation `beliefs.watch`. */
export async function subscribe(
  host: LensHost,
  viewer: Viewer,
  query: BeliefQuery,
  callback: BeliefCallback,
  { resume_token, on_error, on_end, ...options }: SubscribeOptions = {},
): Promise<BeliefSubscription> {
  const context = { viewer, signal: new AbortController().signal }
  const given = { query, options, ...(resume_token !== undefined && { resume_token }) }
  const handlers: LiveHandlers = {
    // The cast is safe: events of this lens contain beliefs.
    onEvent: event => callback(asBeliefEvent(event) as unknown as BeliefEvent),
    onError: error => on_error?.(error),
    onEnd: why => on_end?.(why),
  }
  return inCall(host, context, async ({ state, agent }) =>
    asBeliefSubscription(await subscribeTo(state, agent, parseRequest(watchInput, given) as Watch, handlers, context)),
  )
}

function asBeliefSubscription(of: Subscription): BeliefSubscription {
  return {
    id: of.id,
    // The cast is safe: this query was checked when the subscription was made.
    query: of.query as unknown as BeliefQuery,
    created_at: toIso(of.createdAt),
    began: of.began,
    get status() {
      return of.status
    },
    get events_delivered() {
      return of.eventsDelivered
    },
    get last_event_at() {
      return of.lastEventAt === null ? null : toIso(of.lastEventAt)
    },
    get callback_errors() {
      return of.handlerErrors
    },
    resume_token: () => of.resumeToken(),
    pause: () => of.pause(),
    resume: () => of.resume(),
    cancel: () => of.cancel(),
  }
}

/** Starts all of the given subscriptions or none: if one is rejected, those already started are ended. */
export async function subscribeAll(begin: readonly (() => Promise<BeliefSubscription>)[]): Promise<SubscriptionGroup> {
  const subscriptions: BeliefSubscription[] = []
  try {
    for (const each of begin) subscriptions.push(await each())
  } catch (error) {
    for (const subscription of subscriptions) subscription.cancel()
    throw error
  }
  const all = (act: (subscription: BeliefSubscription) => void) => () => subscriptions.forEach(act)
  return {
    subscriptions,
    pause_all: all(subscription => subscription.pause()),
    resume_all: all(subscription => subscription.resume()),
    cancel_all: all(subscription => subscription.cancel()),
  }
}

/**
 * Starts a subscription. Throws UNAUTHORIZED if the query names another requester than the caller, and the errors that the query itself
 * causes.
 */
export function subscribeTo(
  state: BeliefsState,
  requester: Requester,
  input: Watch,
  handlers: LiveHandlers,
  { signal, isStillAllowed = () => true }: Pick<CallContext, 'signal' | 'isStillAllowed'>,
): Promise<Subscription> {
  const query = toQuery(input.query, requester)
  const options = liveOptions({ ...input.options, resume_token: input.resume_token })
  const { live } = state.host
  if (live === undefined) throw new BeliefsError('NODE_UNAVAILABLE', 'this engine keeps no live queries')
  // The casts are safe: input that was checked contains only JSON values. The query is copied, because the caller may change its object.
  const asked = JSON.parse(canonicalJson(input.query as unknown as JsonObject)) as JsonObject
  const isAllowed = () => isStillAllowed() && mayAsk(state, requester.id, input.query.context)
  const viewer = { id: requester.id }
  const { federated, network } = query.options.scope
  if (!federated && !network)
    return live.subscribe(new LiveBeliefQuery(state, viewer, query, asked, isAllowed), options, handlers, signal)
  const question = new LiveOverNodes(state, viewer, query, asked, isAllowed, gap => handlers.onError?.(gap))
  const untilEnd: LiveHandlers = {
    ...(handlers.wanted && { wanted: () => handlers.wanted?.() ?? null }),
    ...(handlers.onToken && { onToken: token => handlers.onToken?.(token) }),
    onEvent: event => handlers.onEvent(event),
    onError: error => handlers.onError?.(error),
    onEnd: why => {
      question.close()
      handlers.onEnd?.(why)
    },
  }
  return live.subscribe(question, options, untilEnd, signal).catch(error => {
    question.close()
    throw error
  })
}

/** Whether the requester may still run the query: the query may refer to the requester's trust graph by a name that has changed since. */
function mayAsk({ host }: BeliefsState, id: string, context: Query['context']): boolean {
  if (typeof context?.trust_graph !== 'string') return true
  const row = host.store.table(AGENTS).get({ id })
  try {
    toContext(context, { id, trustGraph: (row?.['trust_graph'] as string | null | undefined) ?? null })
    return true
  } catch (error) {
    return !(error instanceof BeliefsError && error.code === 'UNAUTHORIZED')
  }
}

/**
 * Converts an event of a live query to the form of this lens: an event for an added or changed item carries the belief, and an event for
 * lost access only the id (BQ-157).
 */
export function asBeliefEvent({ item, ...event }: LiveEvent): JsonObject {
  const shown = item === undefined ? {} : { belief: item }
  // The cast is safe: an event is plain data, but its interface has no index signature.
  return { ...event, ...shown } as unknown as JsonObject
}
