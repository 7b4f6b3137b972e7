/** The lens as a library: its operations as methods, for one agent. Every call is what the operation of its name does. */
import type { JsonObject } from '../../base/canonical.ts'
import type { LiveHandlers, Subscription } from '../../model/live.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import type { AgentView } from './agents/agents.ts'
import type { FederationView, MembershipView } from './agents/federations.ts'
import type { AggregateAnswer } from './aggregates/ask-aggregate.ts'
import type { FacetField, Purpose } from './check/questions.ts'
import type {
  BeliefContext,
  BeliefQuery,
  BeliefScope,
  NewAgent,
  NewBelief,
  NewFederation,
  NewMember,
  TrustStatement,
} from './inputs.ts'
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
import type { Belief, BeliefSource, DerivationChain, QueryResult } from './model.ts'
import { type BeliefsCall, inCall } from './operations/call.ts'
import { BELIEFS_OPERATIONS } from './operations/operations.ts'
import type { LastChunk, QueryChunk } from './paging/stream.ts'
import type { BatchResult } from './questions/batch.ts'

export interface BeliefCount {
  readonly total: number
  readonly exact: boolean
  readonly by_scope: { readonly local: number; readonly federated: number; readonly network: number }
}

export interface BeliefFacets {
  readonly total: number
  readonly facets: Readonly<
    Record<
      string,
      {
        readonly values: readonly { readonly value: string; readonly count: number; readonly selected: boolean }[]
        readonly other_count: number
      }
    >
  >
}

export interface BeliefVersions {
  readonly belief: Belief
  readonly source: BeliefSource
  /** Where older versions were asked for. */
  readonly history?: readonly Belief[]
}

export interface AboutBelief {
  readonly context?: BeliefContext
  readonly options?: {
    readonly limit?: number
    readonly scope?: BeliefScope
    readonly include_same_holder?: boolean
    /** Raw cosine, -1 to 1; default 0.7. */
    readonly min_similarity?: number
    readonly min_confidence?: number
  }
}

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
    const { stream } = operationOf('beliefs.query')
    // The cast: operations declare their pieces as JSON, and what that is is said here.
    return stream?.(this.#host, query, {
      viewer: this.viewer,
      signal,
    }) as AsyncIterable<unknown> as AsyncIterable<QueryChunk | LastChunk>
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
    const input = { query, options, ...(resume_token !== undefined && { resume_token }) }
    const context = { viewer: this.viewer, signal: new AbortController().signal }
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
  explain(id: string, query: BeliefQuery, { over }: { readonly over?: string } = {}): Promise<JsonObject> {
    return this.#run('beliefs.explain', { belief_id: id, query, ...(over !== undefined && { other_id: over }) })
  }

  count(query: BeliefQuery): Promise<BeliefCount> {
    return this.#run('beliefs.count', query)
  }

  facets(query: BeliefQuery, fields: readonly FacetField[]): Promise<BeliefFacets> {
    return this.#run('beliefs.facets', { query, fields })
  }

  similar(id: string, more: AboutBelief = {}): Promise<JsonObject> {
    return this.#run('beliefs.similar', { belief_id: id, ...more })
  }

  contradictions(id: string, more: AboutBelief = {}): Promise<JsonObject> {
    return this.#run('beliefs.contradictions', { belief_id: id, ...more })
  }

  /** Each is answered, or fails, on its own. */
  batch(queries: readonly BeliefQuery[], signal?: AbortSignal): Promise<BatchResult> {
    return this.#run('beliefs.batch', { queries }, signal)
  }

  contextQuery(
    query: BeliefQuery & { readonly purpose: Purpose; readonly max_tokens: number; readonly target_tokens?: number },
  ): Promise<JsonObject> {
    return this.#run('beliefs.context_query', query)
  }

  expand(
    id: string,
    more: {
      readonly max_additional_tokens: number
      readonly include?: readonly ('derivation' | 'contradictions' | 'similar')[]
      readonly context?: BeliefContext
      readonly scope?: BeliefScope
    },
  ): Promise<JsonObject> {
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
    set: async (statement: TrustStatement): Promise<JsonObject> =>
      (await this.#run<{ edge: JsonObject }>('trust.set', statement)).edge,
    remove: async (target: string): Promise<boolean> =>
      (await this.#run<{ removed: boolean }>('trust.remove', { target })).removed,
    list: async (): Promise<readonly JsonObject[]> =>
      (await this.#run<{ edges: readonly JsonObject[] }>('trust.list', {})).edges,
    compute: (target: string, context?: BeliefContext): Promise<JsonObject & { readonly value: number }> =>
      this.#run('trust.compute', { target, ...(context !== undefined && { context }) }),
  } as const

  readonly agents = {
    create: async (agent: NewAgent): Promise<AgentView> =>
      (await this.#run<{ agent: AgentView }>('agents.create', agent)).agent,
    update: async (agent: NewAgent): Promise<AgentView> =>
      (await this.#run<{ agent: AgentView }>('agents.update', agent)).agent,
    list: async (): Promise<readonly AgentView[]> =>
      (await this.#run<{ agents: readonly AgentView[] }>('agents.list', {})).agents,
  } as const

  readonly federations = {
    create: async (federation: NewFederation): Promise<FederationView> =>
      (await this.#run<{ federation: FederationView }>('federations.create', federation)).federation,
    join: async (federation: string): Promise<FederationView> =>
      (await this.#run<{ federation: FederationView }>('federations.join', { federation })).federation,
    leave: async (federation: string): Promise<MembershipView> =>
      (await this.#run<{ membership: MembershipView }>('federations.leave', { federation })).membership,
    setMember: async (member: NewMember): Promise<MembershipView> =>
      (await this.#run<{ membership: MembershipView }>('federations.set_member', member)).membership,
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
    list: async (): Promise<readonly FederationView[]> =>
      (await this.#run<{ federations: readonly FederationView[] }>('federations.list', {})).federations,
  } as const

  /** The cast: operations declare their answers as JSON, and what that is for each is said above. */
  #run<T>(name: string, input: unknown, signal: AbortSignal = new AbortController().signal): Promise<T> {
    return operationOf(name).run(this.#host, input, { viewer: this.viewer, signal }) as Promise<T>
  }
}

function operationOf(name: string): (typeof BELIEFS_OPERATIONS)[number] {
  const operation = BELIEFS_OPERATIONS.find(known => known.name === name)
  if (operation === undefined) throw new Error(`no operation ${name}`)
  return operation
}
