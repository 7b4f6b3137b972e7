/** Begins a subscription: for the operation `beliefs.watch`, and for programs. */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { LiveEvent, LiveHandlers, Subscription } from '../../../model/live.ts'
import { liveOptions } from '../../../model/live-input.ts'
import type { CallContext } from '../../../model/operation.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import { BeliefsError } from '../errors.ts'
import { type Requester, toContext } from '../schema/context.ts'
import { type Query, toQuery } from '../schema/query.ts'
import type { Watch } from '../schema/questions.ts'
import type { BeliefsState } from '../state.ts'
import { StandingEverywhere } from './standing-everywhere.ts'
import { StandingBeliefs } from './standing-question.ts'

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
  const own = new StandingBeliefs(state, { id: requester.id }, query, asked, isAllowed)
  const { federated, network } = query.options.scope
  if (!federated && !network) return live.subscribe(own, options, handlers, signal)
  const question = new StandingEverywhere(state, own, query, gap => handlers.onError?.(gap))
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

/** As the contract of the lens has it: what came is a belief, and its loss of sight is told by its id alone (BQ-157). */
export function asBeliefEvent({ item, ...event }: LiveEvent): JsonObject {
  const shown = item === undefined ? {} : { belief: item }
  // The cast: an event is plain data, but its interface has no index signature.
  return { ...event, ...shown } as unknown as JsonObject
}
