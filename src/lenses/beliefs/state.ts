/** What the parts of the lens share in one engine. */

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
  /** What pseudonyms and cursors are made with. Not within a read. */
  secret(): string
  /** The requester, as memberships stand now. */
  requester(id: string): Requester
  /**
   * One state of the store, all parts of it as of the same commit: columns, requester and reader. Once to answer, and
   * again before the answer leaves. Not within a write. `time`: for how long the body may work; `through`: the one federation to
   * look through.
   */
  look<T>(requester: string, body: (view: ShowView) => T, time?: TimeLimit, through?: string): T
  /**
   * As `look`, with a body that pauses. It begins again where at a pause something changed that the requester may see: beliefs, their
   * vectors, or memberships. So its steps change nothing, and what it answers is of one moment.
   */
  lookInSteps<T>(requester: string, body: (view: ShowView) => Steps<T>, time: TimeLimit, through?: string): Promise<T>
  /**
   * What is returned says whether beliefs that the requester may see, their vectors and its memberships are still as they are now.
   * What it may not see makes no difference. Both within a read.
   */
  unchanged(requester: Requester): () => boolean
  /**
   * Reads what a process reads once (seconds over a hundred thousand beliefs), and then microseconds. Before a question's time
   * begins: it is no question's work, and the first query should have an answer. Pauses while it reads beliefs; several that load
   * at a time share the reading. Rejects with `cancelled` where the signal comes first.
   */
  load(signal: AbortSignal): Promise<void>
}

/** Made on first use, one an engine. */
export const stateOf: (host: LensHost) => BeliefsState = onePer(host => {
  const settings = (host.settings as BeliefsSettings | undefined) ?? DEFAULTS
  const trust = new TrustGraph(host.store, settings)
  const secret = new Secret(host.store, bytes => host.random(bytes), host.clock)
  const { store } = host
  const columns = new BeliefColumns(store)
  const requesters = new Requesters(store)
  const model = modelOf(host)
  const prepare = (id: string) => {
    // Where pseudonyms may come up, what they are made with is made before: it is a write, which no read may hold.
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

// Work over one state of the store that pauses (QE-019). It begins again when something it has read was changed at a pause.

/** How often work is begun before it holds the state that this process reads until its end: so it ends, however often others write. */
const ATTEMPTS = 4

export interface Begun<T> {
  readonly steps: Steps<T>
  /** Asked after each pause: whether what the steps read is still as it was when they began. */
  isSame(): boolean
}

/**
 * Each step runs within one read of the store, so that it sees one commit. `begin` is called within a read too. Steps write
 * nothing. Rejects with what `begin`, a step or the check of `turns` throws.
 */
export async function undisturbed<T>(store: Store, turns: Turns, begin: () => Begun<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ended = await turns.run(whileSame(store, store.read(begin)))
    if (ended !== null) return ended.value
  }
  // Nothing is committed there any more, but an index that others read may still catch up with what was.
  const untilSame = function* (): Steps<T> {
    for (;;) {
      const ended = yield* whileSame(store, begin())
      if (ended !== null) return ended.value
    }
  }
  return store.readInSteps(untilSame, turns)
}

type Ended<T> = { readonly value: T }

/** Null: it is not the same any more. */
function* whileSame<T>(store: Store, { steps, isSame }: Begun<T>): Steps<Ended<T> | null> {
  for (let paused = false; ; ) {
    const step = store.read(() => (paused && !isSame() ? null : steps.next(paused)))
    if (step === null) return null
    if (step.done === true) return { value: step.value }
    paused = yield
  }
}

// Counters of this engine since it was opened (BQ-177): for whoever runs the node, never for requesters.

interface CounterValues {
  readonly queries_total: number
  /** Of all of them together, without their embedding. */
  readonly query_duration_ms: number
  readonly results_returned: number
  /** Of answers of other nodes, which alone are kept. */
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

  /** Whether an answer of other nodes was reused. */
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

// The embedder of the engine, the index of its vectors, and the vectors of current beliefs.

/** Key of the model that the engine embeds with; null: it has none. */
export function modelOf({ embedder }: Pick<LensHost, 'embedder'>): string | null {
  return embedder === null ? null : modelKey(embedder.model)
}

/** Opened when it is first asked for. */
export function vectorIndex(host: Pick<LensHost, 'index'>, model: string): VectorIndex {
  // The cast: what indexes of this name are.
  return host.index(vectorsName(model)) as VectorIndex
}

/** Vectors of beliefs, by place; undefined: there is none yet. */
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

/** Raw cosine of two, by their places; 0 where one has no vector. */
export function likenessBy(vectors: readonly (Float32Array | undefined)[]): (a: number, b: number) => number {
  return (a, b) => {
    const [one, other] = [vectors[a], vectors[b]]
    return one === undefined || other === undefined ? 0 : cosine(one, other)
  }
}
