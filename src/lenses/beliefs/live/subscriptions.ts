/** Live queries as programs have them (BQ-156, BQ-163, BQ-166, BQ-168). */
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
  /** From 1, without gaps. */
  readonly seq: number
  readonly timestamp: string
  readonly type: LiveEvent['type']
  /** Of the belief as it is shown; of a removed one: as it was. */
  readonly id: string
  /** Absent where it was removed. */
  readonly belief?: Belief
  readonly reason: LiveReason
  readonly text: string
  /** previous_score, score, previous_rank, new_rank, changed_fields, previous_id: where they apply. */
  readonly details: JsonObject
  /** Reconnecting with it goes on after this event. */
  readonly resume_token: string
}

export interface SubscribeOptions extends LiveInput {
  /** What the callback threw, or asking again failed with: the subscription goes on. */
  readonly on_error?: (error: unknown) => void
  /** Once, when it has ended. */
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
  /** How often the callback has thrown. */
  readonly callback_errors: number
  /** With `resync`, what the token's holder had is to be forgotten: the whole answer comes, also where that is nothing. */
  readonly began: Subscription['began']
  /** For going on after what was delivered so far; good for ten minutes from now, in another process too. */
  resume_token(): string
  pause(): void
  resume(): void
  /** Final; doing it again does nothing. */
  cancel(): void
}

export interface SubscriptionGroup {
  readonly subscriptions: readonly BeliefSubscription[]
  pause_all(): void
  resume_all(): void
  cancel_all(): void
}

/** Throws what `beliefs.watch` refuses its input with. */
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
    // The cast: what the lens puts in its events.
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
    // The cast: it is what was subscribed to.
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

/** All of them or none: where one is refused, those that had begun end. */
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

/** Throws UNAUTHORIZED where the query claims to be of somebody else, and what the query fails with. */
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
  // The casts: what was checked is JSON. What is kept is a copy, for the caller may change its own.
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

/** Whether the query still speaks for its requester: what it calls its trust graph may be called otherwise by now. */
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

/** As the contract of the lens has it: an addition carries the belief, and a loss of access only its id (BQ-157). */
export function asBeliefEvent({ item, ...event }: LiveEvent): JsonObject {
  const shown = item === undefined ? {} : { belief: item }
  // The cast: an event is plain data, but its interface has no index signature.
  return { ...event, ...shown } as unknown as JsonObject
}
