/**
 * Figures of this process and its store in the Prometheus text format, for the owner: they tell of all partitions. Labels
 * are names of operations, indexes and statuses, of which there are few; nothing that a request brought.
 */

import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { RequestObserver } from './env.ts'

/** From a cached answer to a slow one. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Figures of one process, as JSON that only `Metrics` reads. */
export type Figures = readonly unknown[]

/** Several processes on one port: a request for the figures of all comes to one of them. */
interface Siblings {
  /** From now on the others get these when they ask. */
  answer(own: () => Promise<Figures>): void
  /** Of every one that answers in time, this one too. */
  gather(): Promise<readonly Figures[]>
}

/** Where all processes see the same value, the largest is the newest; other figures are summed. */
type Joined = 'sum' | 'max'

export class Metrics implements RequestObserver {
  readonly contentType: string
  readonly #registry = new Registry()
  readonly #engine: Engine
  readonly #requests: Counter<'operation' | 'status'>
  readonly #duration: Histogram<'operation'>
  readonly #inFlight: Gauge
  readonly #streams: Gauge
  readonly #connections: Gauge
  readonly #siblings: Siblings | undefined
  readonly #store: readonly [name: string, gauge: Gauge<'index'>][]
  #hasProcessMetrics = false

  /** `worker`: which of several processes on one port this is. */
  constructor(engine: Engine, worker?: number | undefined, siblings?: Siblings | undefined) {
    this.#engine = engine
    this.#siblings = siblings
    this.contentType = this.#registry.contentType
    const registers = [this.#registry]
    this.#requests = new Counter({
      name: 'querent_http_requests_total',
      help: 'Requests that are over, by operation and status',
      labelNames: ['operation', 'status'],
      registers,
    })
    this.#duration = new Histogram({
      name: 'querent_http_request_duration_seconds',
      help: 'Time to answer, without streams',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    })
    const gauge = (name: string, help: string, aggregator: Joined, labelNames: 'index'[] = []): Gauge<'index'> =>
      new Gauge({ name, help, aggregator, labelNames, registers })
    new Gauge({
      name: 'querent_process_info',
      help: 'Which processes these figures are of',
      labelNames: ['pid', 'worker'],
      registers,
    }).set({ pid: String(process.pid), ...(worker !== undefined && { worker: String(worker) }) }, 1)
    this.#inFlight = gauge('querent_http_requests_in_flight', 'Requests that are being answered, streams too', 'sum')
    this.#streams = gauge('querent_http_streams_open', 'Answers that are being sent piece by piece', 'sum')
    this.#connections = gauge('querent_http_connections_open', 'Connections, idle ones too', 'sum')
    this.#store = [
      ['live', gauge('querent_live_queries', 'Live queries', 'sum')],
      ['entries', gauge('querent_entries', 'Entries in the store', 'max')],
      ['lag', gauge('querent_index_feed_lag', 'Changes that indexes had not taken in when this was asked', 'max')],
      ['queue', gauge('querent_embedding_queue', 'Chunks that wait for a vector', 'max')],
      ['rows', gauge('querent_index_rows', 'Rows of an index', 'max', ['index'])],
      ['bytes', gauge('querent_index_bytes', 'Memory of an index', 'sum', ['index'])],
    ]
    siblings?.answer(() => this.#own())
  }

  /** One more connection, or one less. */
  connected(by: 1 | -1): void {
    this.#connections.inc(by)
  }

  began(): void {
    this.#inFlight.inc()
  }

  streams(): void {
    this.#streams.inc()
  }

  ended({ operation, status, duration_ms: ms, streamed }: HttpRequestLine): void {
    const label = operation ?? 'none'
    this.#inFlight.dec()
    this.#requests.inc({ operation: label, status })
    if (streamed) this.#streams.dec()
    else this.#duration.observe({ operation: label }, ms / 1000)
  }

  /** Looks at the store. Of all processes on this port, where there are several. */
  async text(): Promise<string> {
    if (this.#siblings === undefined) {
      await this.#look()
      return this.#registry.metrics()
    }
    return AggregatorRegistry.aggregate([...(await this.#siblings.gather())]).metrics()
  }

  async #own(): Promise<Figures> {
    await this.#look()
    return (await this.#registry.getMetricsAsJSON()) as Figures
  }

  async #look(): Promise<void> {
    // Only once somebody wants them: they watch the event loop and the collector from then on.
    if (!this.#hasProcessMetrics) collectDefaultMetrics({ register: this.#registry })
    this.#hasProcessMetrics = true
    const gauges = new Map(this.#store)
    const lag = this.#engine.feedLag()
    const { entries, chunks, embedded, embedder, indexes } = await this.#engine.status()
    gauges.get('live')?.set(this.#engine.live.count())
    gauges.get('entries')?.set(entries)
    gauges.get('lag')?.set(lag)
    gauges.get('queue')?.set(embedder === null ? 0 : chunks - embedded)
    for (const { name, rows, bytes } of indexes) {
      if (rows !== null) gauges.get('rows')?.set({ index: name }, rows)
      if (bytes !== null) gauges.get('bytes')?.set({ index: name }, bytes)
    }
  }
}

// Figures of several processes on one port: a worker asks the first process for those of all, which asks each worker for its own.

/** `all`: a worker asks about all. `own`: one is asked about itself. Those with `-is` are answers. */
type Kind = 'all' | 'all-is' | 'own' | 'own-is'

interface Message {
  readonly figures: Kind
  /** Of the question, which its answer repeats. */
  readonly id: number
  readonly value: unknown
}

/** A worker that does not answer in so long is left out: it may have just ended. */
const WAIT_MS = 2_000

/** In a worker. */
export class WorkerSiblings implements Siblings {
  readonly #waiting = new Map<number, (value: readonly Figures[]) => void>()
  #own: (() => Promise<Figures>) | null = null
  #last = 0

  constructor() {
    process.on('message', message => {
      if (!isMessage(message)) return
      if (message.figures === 'own') void this.#report(message.id)
      if (message.figures !== 'all-is') return
      this.#waiting.get(message.id)?.(message.value as readonly Figures[])
      this.#waiting.delete(message.id)
    })
  }

  answer(own: () => Promise<Figures>): void {
    this.#own = own
  }

  async gather(): Promise<readonly Figures[]> {
    const id = ++this.#last
    const all = new Promise<readonly Figures[]>(resolve => this.#waiting.set(id, resolve))
    return send(process, { figures: 'all', id, value: null }) ? all : []
  }

  async #report(id: number): Promise<void> {
    const value = await this.#own?.().catch(() => null)
    send(process, { figures: 'own-is', id, value: value ?? null })
  }
}

/** In the first process; until the signal. */
export function relayFigures(signal: AbortSignal): void {
  let last = 0
  const waiting = new Map<number, (value: unknown) => void>()
  const ask = (worker: Worker): Promise<unknown> => {
    const id = ++last
    return new Promise(resolve => {
      const late = setTimeout(() => waiting.get(id)?.(null), WAIT_MS)
      waiting.set(id, value => {
        clearTimeout(late)
        waiting.delete(id)
        resolve(value)
      })
      if (!send(worker, { figures: 'own', id, value: null })) waiting.get(id)?.(null)
    })
  }
  const onMessage = async (worker: Worker, message: unknown): Promise<void> => {
    if (!isMessage(message)) return
    if (message.figures === 'own-is') waiting.get(message.id)?.(message.value)
    if (message.figures !== 'all') return
    const workers = Object.values(cluster.workers ?? {}).filter(one => one !== undefined)
    const value = (await Promise.all(workers.map(ask))).filter(Array.isArray)
    send(worker, { figures: 'all-is', id: message.id, value })
  }
  cluster.on('message', onMessage)
  signal.addEventListener('abort', () => cluster.off('message', onMessage), { once: true })
}

/** False: the other one is not connected. */
function send(to: Worker | NodeJS.Process, message: Message): boolean {
  const isConnected = 'isConnected' in to ? to.isConnected() : to.connected
  // What fails after all is ignored: the first process waits only so long, and a worker ends with it.
  if (isConnected) to.send?.(message, undefined, undefined, () => {})
  return isConnected
}

function isMessage(message: unknown): message is Message {
  return isRecord(message) && typeof message['figures'] === 'string'
}
