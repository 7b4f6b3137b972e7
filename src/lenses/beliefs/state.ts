/**
 * The state of one engine that all parts of the beliefs lens share: columns, trust graph, caches, and functions that read one consistent
 * state of the store.
 */

import { onePer } from '../../base/recent.ts'
import { type Steps, Turns } from '../../base/turns.ts'
import { modelKey } from '../../embed/embedder.ts'
import { type VectorIndex, vectorsName } from '../../index/contract.ts'
import { cosine } from '../../math/vector.ts'
import type { EntryKey } from '../../model/entry.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { type Requester, Requesters } from './access/requester.ts'
import { Secret, type ShowView } from './access/show.ts'
import { type BeliefsSettings, DEFAULTS } from './beliefs-settings.ts'
import { BeliefColumns } from './columns/columns.ts'
import type { BeliefsCode } from './errors.ts'
import { Scopes } from './matching/in-scope.ts'
import { Contents } from './matching/operators.ts'
import type { TimeLimit } from './time-limit.ts'
import { TrustGraph } from './trust/trust-graph.ts'

export interface BeliefsState {
  readonly host: LensHost
  readonly settings: BeliefsSettings
  readonly columns: BeliefColumns
  readonly contents: Contents
  readonly scopes: Scopes
  readonly trust: TrustGraph
  /**
   * The secret from which pseudonyms and cursors are made. It may be created and stored by this call, so it must not be called within a
   * read.
   */
  secret(): string
  /** The requester with this agent id, with the federation memberships that it has now. */
  requester(id: string): Requester
  /**
   * Runs `body` on one state of the store: columns, the requester's permissions and the reader belong to one commit. Not allowed within a
   * write. `time`: time limit for the body. `through`: a federation; if given, only beliefs shared through it are visible.
   * Used to compute an answer, and once more to check the visibility of its beliefs before it is sent.
   */
  look<T>(requester: string, body: (view: ShowView) => T, time?: TimeLimit, through?: string): T
  /**
   * Runs a `body` that pauses so that other work can run, on one state of the store. The body is started again if, during a pause,
   * something visible to the requester changed: beliefs, their vectors, or memberships. So the body must have no side effects, and its
   * result describes a single moment.
   */
  lookInSteps<T>(requester: string, body: (view: ShowView) => Steps<T>, time: TimeLimit, through?: string): Promise<T>
  /**
   * Records the present state and returns a function that reports whether the beliefs visible to the requester, their vectors, and the
   * requester's memberships are still the same. Changes of hidden data do not count. Both functions must be called within a read of the
   * store.
   */
  unchanged(requester: Requester): () => boolean
  /**
   * Loads the data that a process loads once: all beliefs, trust edges and indexes. The first call takes seconds for a hundred thousand
   * beliefs, later calls microseconds, so it runs before the time limit of a query begins. It pauses so that other work can run, concurrent
   * calls share the work, and it rejects with `cancelled` if the signal is aborted first.
   */
  load(signal: AbortSignal): Promise<void>
}

/** Returns the beliefs lens's state of an engine, which is created at the first call. */
export const stateOf: (host: LensHost) => BeliefsState = onePer(host => {
  const settings = (host.settings as BeliefsSettings | undefined) ?? DEFAULTS
  const trust = new TrustGraph(host.store, settings)
  const secret = new Secret(host.store, bytes => host.random(bytes), host.clock)
  const { store } = host
  const columns = new BeliefColumns(store)
  const requesters = new Requesters(store)
  const model = modelOf(host)
  const prepare = (id: string) => {
    // If the requester is in a federation, pseudonyms may be needed. Their secret is created now, because creating it is a write, which is
    // impossible within the read that follows.
    if (requesters.of(id).federations.length > 0) secret.make()
  }
  const viewOf = (reader: StoreReader, id: string, time: TimeLimit | undefined, through?: string): ShowView => {
    columns.refresh()
    const requester = requesters.of(id, through)
    const { partitions } = requester.accessScope
    const isEmbedded = (entry: EntryKey) => model !== null && vectorIndex(host, model).has(entry, { partitions })
    return { reader, requester, columns, model, secret: () => secret.value, isEmbedded, time }
  }
  const stampOf = ({ accessScope: { partitions } }: Requester) => {
    const vectors = model === null ? 0 : vectorIndex(host, model).count({ partitions })
    return `${columns.changesIn(partitions)} ${vectors}`
  }
  const unchanged = (requester: Requester) => {
    const stamp = stampOf(requester)
    return () => {
      columns.refresh()
      return requesters.of(requester.id, requester.through) === requester && stampOf(requester) === stamp
    }
  }
  return {
    host,
    settings,
    columns,
    contents: new Contents(store, columns),
    scopes: new Scopes(),
    trust,
    secret: () => {
      secret.make()
      return secret.value
    },
    requester: id => requesters.of(id),
    load: async signal => {
      const turns = turnsUntil(signal)
      await turns.run(columns.refreshInSteps())
      await turns.run(trust.refreshInSteps())
      await host.ready?.([model === null ? 'words' : vectorsName(model)], signal)
    },
    look: (id, body, time, through) => {
      prepare(id)
      return store.read(reader => body(viewOf(reader, id, time, through)))
    },
    lookInSteps: async (id, body, time, through) => {
      const turns = new Turns(() => time.check())
      await turns.run(columns.refreshInSteps())
      prepare(id)
      return undisturbed(store, turns, () => {
        const view = viewOf(store, id, time, through)
        return { steps: body(view), isSame: unchanged(view.requester) }
      })
    },
    unchanged,
  }
})

// Runs work that pauses on one state of the store (QE-019). The work is started again if data that it has read changed during a pause.

/**
 * How many times the work is started with pauses between reads. After that it runs within a single read, so that it ends even if others
 * write all the time.
 */
const ATTEMPTS = 4

export interface Begun<T> {
  readonly steps: Steps<T>
  /** Called after each pause: whether all data that the work has read is still as it was at the start. */
  isSame(): boolean
}

/**
 * Runs work that pauses so that other work can run. Each part between two pauses runs in one read of the store, as does `begin`, which
 * starts the work. The work must not write. Errors of `begin`, of the work, and of the check that `turns` makes at each pause are passed
 * on.
 */
export async function undisturbed<T>(store: Store, turns: Turns, begin: () => Begun<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ended = await turns.run(whileSame(store, store.read(begin)))
    if (ended !== null) return ended.value
  }
  // Within this single read no new commit of the store becomes visible. But a search index, which is shared with other readers, may still
  // be brought up to date during a pause, so the work is still started again if its data changed.
  const untilSame = function* (): Steps<T> {
    for (;;) {
      const ended = yield* whileSame(store, begin())
      if (ended !== null) return ended.value
    }
  }
  return store.readInSteps(untilSame, turns)
}

type Ended<T> = { readonly value: T }

/** Runs the work to its end, with pauses. Null: data that it had read changed during a pause. */
function* whileSame<T>(store: Store, { steps, isSame }: Begun<T>): Steps<Ended<T> | null> {
  for (let paused = false; ; ) {
    const step = store.read(() => (paused && !isSame() ? null : steps.next(paused)))
    if (step === null) return null
    if (step.done === true) return { value: step.value }
    paused = yield
  }
}

// Counters of this engine since it was opened (BQ-177). They are for the operator of the node and never shown to requesters.

interface CounterValues {
  readonly queries_total: number
  /** Total duration of all queries in milliseconds, without the time for embedding texts. */
  readonly query_duration_ms: number
  readonly results_returned: number
  /**
   * Number of queries answered from the cache of other nodes' answers, and number of queries not found in it; no other answers are cached.
   */
  readonly cache_hits: number
  readonly cache_misses: number
  readonly errors_by_code: Readonly<Partial<Record<BeliefsCode, number>>>
  readonly subscriptions_active: number
}

class Counters {
  readonly #sums = { queries_total: 0, query_duration_ms: 0, results_returned: 0, cache_hits: 0, cache_misses: 0 }
  readonly #errors: Partial<Record<BeliefsCode, number>> = {}
  readonly #host: LensHost

  constructor(host: LensHost) {
    this.#host = host
  }

  countQuery(durationMs: number, results: number): void {
    this.#sums.queries_total++
    this.#sums.query_duration_ms += durationMs
    this.#sums.results_returned += results
  }

  /** Counts whether the other nodes' part of a query was answered from the cache. */
  countCache(isHit: boolean): void {
    this.#sums[isHit ? 'cache_hits' : 'cache_misses']++
  }

  countError(code: BeliefsCode): void {
    this.#errors[code] = (this.#errors[code] ?? 0) + 1
  }

  get values(): CounterValues {
    return {
      ...this.#sums,
      query_duration_ms: Math.round(this.#sums.query_duration_ms * 1000) / 1000,
      errors_by_code: { ...this.#errors },
      subscriptions_active: this.#host.live?.count() ?? 0,
    }
  }
}

export const countersOf: (host: LensHost) => Counters = onePer(host => new Counters(host))

// Access to the engine's embedding model, the index of its vectors, and the vectors of current beliefs.

/** Identifier of the engine's embedding model; null: the engine has no embedder. */
export function modelOf({ embedder }: Pick<LensHost, 'embedder'>): string | null {
  return embedder === null ? null : modelKey(embedder.model)
}

/** The vector index of an embedding model; it is opened at the first call. */
export function vectorIndex(host: Pick<LensHost, 'index'>, model: string): VectorIndex {
  // The cast is safe: the index with this name is a vector index.
  return host.index(vectorsName(model)) as VectorIndex
}

/** Vectors of the given beliefs, in the given order; undefined: the belief has no vector yet. */
export function vectorsOf(
  { reader, model, columns, remotes }: Pick<ShowView, 'reader' | 'model' | 'columns' | 'remotes'>,
  beliefs: readonly { readonly entry: EntryKey }[],
): readonly (Float32Array | undefined)[] {
  if (model === null) return beliefs.map(() => undefined)
  const keys = beliefs.map(({ entry }) => entry)
  const own = remotes === undefined ? keys : keys.filter(key => !remotes.has(key))
  const read = columns.vectorsBy(model).get(reader, own)
  const found = new Map(read.map(({ entry, vector }) => [entry, vector]))
  return keys.map(key => found.get(key) ?? remotes?.get(key)?.vector ?? undefined)
}

/** Returns a function that gives the raw cosine of two of the vectors, given by their positions in the list; 0 if either is missing. */
export function likenessBy(vectors: readonly (Float32Array | undefined)[]): (a: number, b: number) => number {
  return (a, b) => {
    const [one, other] = [vectors[a], vectors[b]]
    return one === undefined || other === undefined ? 0 : cosine(one, other)
  }
}
