/** The lens as a library: its operations as methods, for one agent. Every call is what the operation of its name does. */
import type { z } from 'zod'
import type { LiveHandlers, Subscription } from '../../model/live.ts'
import type { CallContext, Operation } from '../../model/operation.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import {
  asBeliefSubscription,
  type BeliefCallback,
  type BeliefEvent,
  type BeliefSubscription,
  type SubscribeOptions,
  type SubscriptionGroup,
  subscribeAll,
} from './live/subscriptions.ts'
import { asBeliefEvent, subscribeTo } from './live/watch.ts'
import type { Belief, DerivationChain, QueryResult } from './model.ts'
import type { AggregateAnswer } from './nodes/aggregates/wire.ts'
import { type BeliefsCall, checkedInput, inCall } from './operations/call.ts'
import { BELIEFS_OPERATIONS } from './operations/operations.ts'
import type { LastChunk, QueryChunk } from './paging/stream.ts'
import type { BatchResult } from './questions/batch.ts'
import type * as agentAnswers from './schema/agent-answers.ts'
import type { NewAgent, NewFederation, NewMember, TrustStatement } from './schema/agents.ts'
import type * as answers from './schema/answers.ts'
import type { NewBelief } from './schema/belief.ts'
import type { BeliefContext } from './schema/context.ts'
import type { BeliefQuery } from './schema/query.ts'
import type * as questions from './schema/questions.ts'
import type { FacetField } from './schema/questions.ts'
import type { Value } from './schema/values.ts'

export type BeliefCount = Value<typeof answers.countAnswer>
export type BeliefFacets = Value<typeof answers.facetsAnswer>
export type BeliefVersions = Value<typeof answers.versions>
/** Of `similar` and `contradictions`. */
export type AboutBelief<T extends z.ZodType> = Omit<Value<T>, 'belief_id'>

export class Beliefs {
  readonly viewer: Viewer
  readonly #host: LensHost

  /** `host` is that of the lens: `engine.host('beliefs')`. Without a viewer: of the agent `owner`. */
  constructor(host: LensHost, viewer: Viewer = LOCAL_OWNER) {
    this.viewer = viewer
    this.#host = host
  }

  query(query: BeliefQuery, signal?: AbortSignal): Promise<QueryResult> {
    return this.#run('beliefs.query', query, signal)
  }

  /** The same piece by piece (`options.chunk_size` results each), in order; leaving the loop ends it. */
  stream(
    query: BeliefQuery,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncIterable<QueryChunk | LastChunk> {
    const operation = operationOf('beliefs.query')
    const context = { viewer: this.viewer, signal }
    const input = checkedInput(operation, this.#host, query, context)
    // The cast: operations declare their pieces as JSON; their types are those of the lens.
    return operation.stream?.(this.#host, input, context) as AsyncIterable<unknown> as AsyncIterable<
      QueryChunk | LastChunk
    >
  }

  /**
   * Calls back for each belief that comes into the first results, changes in them, or goes. Resolves when the first events
   * are on their way; its callbacks never overlap.
   */
  async subscribe(
    query: BeliefQuery,
    callback: BeliefCallback,
    { resume_token, on_error, on_end, ...options }: SubscribeOptions = {},
  ): Promise<BeliefSubscription> {
    const context = { viewer: this.viewer, signal: new AbortController().signal }
    const given = { query, options, ...(resume_token !== undefined && { resume_token }) }
    // The cast: what the schema of the operation gives.
    const input = checkedInput(operationOf('beliefs.watch'), this.#host, given, context) as questions.Watch
    const handlers: LiveHandlers = {
      // The cast: what the lens puts in its events.
      onEvent: event => callback(asBeliefEvent(event) as unknown as BeliefEvent),
      onError: error => on_error?.(error),
      onEnd: why => on_end?.(why),
    }
    const begin = (call: BeliefsCall): Promise<Subscription> =>
      subscribeTo(call.state, call.asker, input, handlers, context)
    return asBeliefSubscription(await inCall(this.#host, context, begin))
  }

  /** Several with one callback; all of them begin, or none does. */
  subscribe_multiple(
    queries: readonly BeliefQuery[],
    callback: BeliefCallback,
    options: Omit<SubscribeOptions, 'resume_token'> = {},
  ): Promise<SubscriptionGroup> {
    return subscribeAll(queries.map(query => () => this.subscribe(query, callback, options)))
  }

  /** Why a belief stands where it does in the answer to a query, or why not; `over`: compared with this one. */
  explain(
    id: string,
    query: BeliefQuery,
    { over }: { readonly over?: string } = {},
  ): Promise<Value<typeof answers.explainAnswer>> {
    return this.#run('beliefs.explain', { belief_id: id, query, ...(over !== undefined && { other_id: over }) })
  }

  count(query: BeliefQuery): Promise<BeliefCount> {
    return this.#run('beliefs.count', query)
  }

  facets(query: BeliefQuery, fields: readonly FacetField[]): Promise<BeliefFacets> {
    return this.#run('beliefs.facets', { query, fields })
  }

  similar(
    id: string,
    more: AboutBelief<typeof questions.similarInput> = {},
  ): Promise<Value<typeof answers.similarAnswer>> {
    return this.#run('beliefs.similar', { belief_id: id, ...more })
  }

  contradictions(
    id: string,
    more: AboutBelief<typeof questions.contradictionsInput> = {},
  ): Promise<Value<typeof answers.contradictionsAnswer>> {
    return this.#run('beliefs.contradictions', { belief_id: id, ...more })
  }

  /** Each is answered, or fails, on its own. */
  batch(queries: readonly BeliefQuery[], signal?: AbortSignal): Promise<BatchResult> {
    return this.#run('beliefs.batch', { queries }, signal)
  }

  contextQuery(query: Value<typeof questions.contextQueryInput>): Promise<Value<typeof answers.contextAnswer>> {
    return this.#run('beliefs.context_query', query)
  }

  expand(id: string, more: AboutBelief<typeof questions.expandInput>): Promise<Value<typeof answers.expandAnswer>> {
    return this.#run('beliefs.expand', { belief_id: id, ...more })
  }

  derivation(id: string, maxDepth?: number): Promise<DerivationChain> {
    return this.#run('beliefs.derivation', { belief_id: id, ...(maxDepth !== undefined && { max_depth: maxDepth }) })
  }

  get(id: string, { history = false }: { readonly history?: boolean } = {}): Promise<BeliefVersions> {
    return this.#run('beliefs.get', { belief_id: id, ...(history && { include_superseded: true }) })
  }

  /** Found by meaning when it resolves; `wait: false` does not wait for that. */
  async put(belief: NewBelief, { wait = true }: { readonly wait?: boolean } = {}): Promise<Belief> {
    return (await this.#run<{ belief: Belief }>('beliefs.put', { ...belief, wait })).belief
  }

  /** All of them or none, in their order. */
  async putAll(
    beliefs: readonly NewBelief[],
    { wait = true }: { readonly wait?: boolean } = {},
  ): Promise<readonly Belief[]> {
    return (await this.#run<{ beliefs: readonly Belief[] }>('beliefs.put', { beliefs, wait })).beliefs
  }

  /** `id`: the version that is replaced. */
  async supersede(id: string, changes: Partial<NewBelief>): Promise<Belief> {
    return (await this.#run<{ belief: Belief }>('beliefs.supersede', { ...changes, belief_id: id })).belief
  }

  async delete(id: string): Promise<void> {
    await this.#run('beliefs.delete', { belief_id: id })
  }

  readonly trust = {
    set: async (statement: TrustStatement): Promise<agentAnswers.EdgeView> =>
      (await this.#run<Value<typeof agentAnswers.oneEdge>>('trust.set', statement)).edge,
    remove: async (target: string): Promise<boolean> =>
      (await this.#run<{ removed: boolean }>('trust.remove', { target })).removed,
    list: async (): Promise<readonly agentAnswers.EdgeView[]> =>
      (await this.#run<Value<typeof agentAnswers.edgesAnswer>>('trust.list', {})).edges,
    compute: (target: string, context?: BeliefContext): Promise<Value<typeof agentAnswers.trustAnswer>> =>
      this.#run('trust.compute', { target, ...(context !== undefined && { context }) }),
  } as const

  readonly agents = {
    create: async (agent: NewAgent): Promise<agentAnswers.AgentView> =>
      (await this.#run<{ agent: agentAnswers.AgentView }>('agents.create', agent)).agent,
    update: async (agent: NewAgent): Promise<agentAnswers.AgentView> =>
      (await this.#run<{ agent: agentAnswers.AgentView }>('agents.update', agent)).agent,
    list: async (): Promise<readonly agentAnswers.AgentView[]> =>
      (await this.#run<{ agents: readonly agentAnswers.AgentView[] }>('agents.list', {})).agents,
  } as const

  readonly federations = {
    create: async (federation: NewFederation): Promise<agentAnswers.FederationView> =>
      (await this.#run<{ federation: agentAnswers.FederationView }>('federations.create', federation)).federation,
    join: async (federation: string): Promise<agentAnswers.FederationView> =>
      (await this.#run<{ federation: agentAnswers.FederationView }>('federations.join', { federation })).federation,
    leave: async (federation: string): Promise<agentAnswers.MembershipView> =>
      (await this.#run<{ membership: agentAnswers.MembershipView }>('federations.leave', { federation })).membership,
    setMember: async (member: NewMember): Promise<agentAnswers.MembershipView> =>
      (await this.#run<{ membership: agentAnswers.MembershipView }>('federations.set_member', member)).membership,
    /** Of one whose results are aggregates: a topic in words, or a domain. */
    aggregate: (
      federation: string,
      topic: string | { readonly domain: string },
      signal?: AbortSignal,
    ): Promise<AggregateAnswer> =>
      this.#run(
        'federations.aggregate',
        { federation, ...(typeof topic === 'string' ? { topic } : { domain: topic.domain }) },
        signal,
      ),
    list: async (): Promise<readonly agentAnswers.FederationView[]> =>
      (await this.#run<{ federations: readonly agentAnswers.FederationView[] }>('federations.list', {})).federations,
  } as const

  #run<T>(name: string, given: unknown, signal: AbortSignal = new AbortController().signal): Promise<T> {
    return this.#answer(operationOf(name), given, { viewer: this.viewer, signal }) as Promise<T>
  }

  /** A promise also of what is wrong with the input. */
  async #answer(operation: Operation<LensHost>, given: unknown, context: CallContext): Promise<unknown> {
    return operation.run(this.#host, checkedInput(operation, this.#host, given, context), context)
  }
}

function operationOf(name: string): (typeof BELIEFS_OPERATIONS)[number] {
  const operation = BELIEFS_OPERATIONS.find(known => known.name === name)
  if (operation === undefined) throw new Error(`no operation ${name}`)
  return operation
}
