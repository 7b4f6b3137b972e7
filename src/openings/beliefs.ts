/** Opens an engine with only the lens `beliefs`, and offers the lens's operations as functions for one agent. */
import type { Engine } from '../engine/engine.ts'
import { openEngine } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import {
  type BeliefCallback,
  type BeliefSubscription,
  type SubscribeOptions,
  type SubscriptionGroup,
  subscribe,
  subscribeAll,
} from '../lenses/beliefs/live/subscriptions.ts'
import type { LastChunk, QueryChunk } from '../lenses/beliefs/paging/reading.ts'
import type { SampleReport } from '../lenses/beliefs/sample/sample-beliefs.ts'
import type { BeliefQuery } from '../lenses/beliefs/schema/query.ts'
import { KIND } from '../lenses/beliefs/tables.ts'
import type { Calls } from '../lenses/calls.ts'
import { embedEntries } from '../lenses/embed-entries.ts'
import { QuerentError } from '../model/errors.ts'
import type { Progress } from '../model/operation.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../model/viewer.ts'

export interface OpenBeliefsOptions extends EngineOptions {
  /** The agent for whom calls run; default `owner`. */
  readonly viewer?: Viewer | undefined
}

type Families = Pick<Calls, 'trust' | 'agents' | 'federations' | 'nodes' | 'peers'>

/**
 * The operations of the lens `beliefs` as functions: `query(input)` runs `beliefs.query`, `trust.set(input)` runs `trust.set`, and so on.
 */
export interface Beliefs extends Families, Readonly<Calls['beliefs']> {
  /** The answer to a query in chunks of `options.chunk_size` results, in order; leaving the loop early stops the query. */
  stream(query: BeliefQuery, signal?: AbortSignal): AsyncIterable<QueryChunk | LastChunk>
  /**
   * Calls `callback` for each belief that enters the query's first results, changes in them, or leaves them. Resolves when the first events
   * are being delivered; calls of the callback never overlap.
   */
  subscribe(query: BeliefQuery, callback: BeliefCallback, options?: SubscribeOptions): Promise<BeliefSubscription>
  /** Starts several subscriptions that share one callback: either all of them start, or none does. */
  subscribe_multiple(
    queries: readonly BeliefQuery[],
    callback: BeliefCallback,
    options?: Omit<SubscribeOptions, 'resume_token'>,
  ): Promise<SubscriptionGroup>
}

/** The lens `beliefs` with the engine that was opened for it; closing it closes the engine. */
export interface OpenBeliefs extends Beliefs, AsyncDisposable {
  readonly engine: Engine
  /** The lens's functions for another agent, on the store of this opened lens. */
  as(viewer: Viewer | string): Beliefs
  /** Loads sample data, some 300 beliefs of twelve agents, and waits until these have vectors. */
  loadSample(): Promise<SampleReport>
  close(): Promise<void>
}

/** Opens an engine with the lens `beliefs`; without options, on the store of the working folder. */
export async function openBeliefs({ viewer = LOCAL_OWNER, ...options }: OpenBeliefsOptions = {}): Promise<OpenBeliefs> {
  const engine = await openEngine({ onlyLenses: ['beliefs'], ...options })
  return {
    ...beliefsOf(engine, viewer),
    engine,
    as: other => beliefsOf(engine, typeof other === 'string' ? { id: other } : other),
    loadSample: () => loadBeliefsSample(engine, viewer),
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

/** The functions of the lens `beliefs` on an engine that is already open, for one viewer. */
export function beliefsOf(engine: Engine, viewer: Viewer): Beliefs {
  const { beliefs, trust, agents, federations, nodes, peers } = engine.as(viewer)
  const begin: Beliefs['subscribe'] = (...given) => subscribe(engine.host('beliefs'), viewer, ...given)
  return {
    ...{ ...beliefs, trust, agents, federations, nodes, peers },
    // The cast is needed since operations declare chunks as plain JSON; those of this operation have the lens's types.
    stream: (query, signal) =>
      beliefs.query.stream(query, signal && { signal }) as AsyncIterable<unknown> as AsyncIterable<
        QueryChunk | LastChunk
      >,
    subscribe: begin,
    subscribe_multiple: (queries, ...rest) => subscribeAll(queries.map(query => () => begin(query, ...rest))),
  }
}

/**
 * Loads the sample beliefs and waits until these have vectors. Only the local owner may load them, because this creates agents. Times in
 * the sample are counted back from the engine's clock.
 */
export async function loadBeliefsSample(
  engine: Engine,
  viewer: Viewer,
  report?: (progress: Progress) => void,
): Promise<SampleReport> {
  if (!isOwner(viewer)) throw new QuerentError('denied', 'the sample: only the local owner may load it', {})
  const host = engine.host('beliefs')
  const { loadSample } = await import('../lenses/beliefs/sample/sample-beliefs.ts')
  const loaded = await loadSample(host)
  const beliefs = host.store.matching(host.accessScope(viewer), { op: 'eq', field: 'kind', value: KIND })
  await embedEntries(host, [...beliefs], new AbortController().signal, report)
  return loaded
}
