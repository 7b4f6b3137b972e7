/**
 * Metrics of this process and its store in the Prometheus text format. Only the local owner may see them, because they cover the data of
 * all viewers. Labels are names of operations, indexes and statuses, of which there are few; nothing from a request becomes a label.
 */

import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { RequestObserver } from './env.ts'

/** Upper limits of the buckets of the latency histogram in seconds, from a cached answer to a slow one. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * How a metric's values from several processes are combined: `max` if all processes observe the same thing, since the largest value is the
 * newest; otherwise `sum`.
 */
type Joined = 'sum' | 'max'

export class Metrics implements RequestObserver {
  readonly contentType: string
  readonly #registry = new OwnRegistry(() => this.#look())
  readonly #engine: Engine
  readonly #requests: Counter<'operation' | 'status'>
  readonly #duration: Histogram<'operation'>
  readonly #inFlight: Gauge
  readonly #streams: Gauge
  readonly #connections: Gauge
  readonly #isWorker: boolean
  readonly #store: readonly [name: string, gauge: Gauge<'index'>][]
  #hasProcessMetrics = false

  /** `worker`: number of this process if several processes serve one port; absent if it is the only one. */
  constructor(engine: Engine, worker?: number | undefined) {
    this.#engine = engine
    this.#isWorker = worker !== undefined
    this.contentType = this.#registry.contentType
    const registers = [this.#registry]
    this.#requests = new Counter({
      name: 'querent_http_requests_total',
      help: 'Finished requests, by operation and status',
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
      help: 'Processes that these figures cover',
      labelNames: ['pid', 'worker'],
      registers,
    }).set({ pid: String(process.pid), ...(worker !== undefined && { worker: String(worker) }) }, 1)
    this.#inFlight = gauge('querent_http_requests_in_flight', 'Requests that are being answered, streams too', 'sum')
    this.#streams = gauge('querent_http_streams_open', 'Answers that are being sent piece by piece', 'sum')
    this.#connections = gauge('querent_http_connections_open', 'Connections, idle ones too', 'sum')
    this.#store = [
      ['live', gauge('querent_live_queries', 'Live queries', 'sum')],
      ['entries', gauge('querent_entries', 'Entries in the store', 'max')],
      [
        'lag',
        gauge('querent_index_feed_lag', 'Changes that indexes had not applied yet at the time of this request', 'max'),
      ],
      ['queue', gauge('querent_embedding_queue', 'Chunks that wait for a vector', 'max')],
      ['rows', gauge('querent_index_rows', 'Rows of an index', 'max', ['index'])],
      ['bytes', gauge('querent_index_bytes', 'Memory of an index', 'sum', ['index'])],
    ]
    if (worker === undefined) return
    // Creating this object registers the listener through which the first process requests this worker's metrics.
    new AggregatorRegistry()
    AggregatorRegistry.setRegistries(this.#registry)
  }

  /** Counts one more open connection (1), or one less (-1). */
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

  /** The metrics as text, read from the store at this moment; if several processes serve this port, the metrics of all of them together. */
  text(): Promise<string> {
    return this.#isWorker ? figuresOfAll() : this.#registry.metrics()
  }

  async #look(): Promise<void> {
    // Metrics of the process are collected from the first request for metrics on, because collecting them means observing the event loop
    // and the garbage collector all the time.
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

/** A registry of metrics that updates them from the process and its store each time before it returns them. */
class OwnRegistry extends Registry {
  readonly #look: () => Promise<void>

  constructor(look: () => Promise<void>) {
    super()
    this.#look = look
  }

  override async metrics(): Promise<string> {
    await this.#look()
    return super.metrics()
  }

  override async getMetricsAsJSON(): ReturnType<Registry['getMetricsAsJSON']> {
    await this.#look()
    return super.getMetricsAsJSON()
  }
}

// Several processes on one port: a worker that is asked for metrics asks the first process, which collects them from all workers by means
// of prom-client.

interface Message {
  readonly type: 'querent:figures'
  /** Id of the request for metrics; the reply has the same id. */
  readonly id: number
  /** In a reply, the metrics of all processes as text; null: a worker did not respond in time. */
  readonly text?: string | null
}

let lastId = 0

/** Called in a worker: requests the metrics of all processes from the first process. Rejects with `deadline_exceeded`. */
function figuresOfAll(): Promise<string> {
  const id = ++lastId
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      if (!isMessage(message) || message.id !== id) return
      process.off('message', onMessage)
      if (typeof message.text === 'string') resolve(message.text)
      else reject(new QuerentError('deadline_exceeded', 'a worker did not report its figures in time; try again', {}))
    }
    process.on('message', onMessage)
    process.send?.({ type: 'querent:figures', id } satisfies Message)
  })
}

/** Called in the first process: answers the workers' requests for metrics until the signal is aborted. */
export function relayFigures(signal: AbortSignal): void {
  const all = new AggregatorRegistry()
  const onMessage = async (worker: Worker, message: unknown): Promise<void> => {
    if (!isMessage(message)) return
    const text = await all.clusterMetrics().catch(() => null)
    // A failure to send the reply is ignored: it means that the worker has ended.
    if (worker.isConnected()) worker.send({ ...message, text }, undefined, undefined, () => {})
  }
  cluster.on('message', onMessage)
  signal.addEventListener('abort', () => cluster.off('message', onMessage), { once: true })
}

function isMessage(message: unknown): message is Message {
  return isRecord(message) && message['type'] === 'querent:figures'
}
