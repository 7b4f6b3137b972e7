/**
 * Several processes on one port and one store: the first one only starts the others and replaces those that die. Each
 * opens the store for itself; what they write is found by all, and the store's leases say which of them does background work.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { QuerentError } from '../../../model/errors.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'

/** What the first process says to end a worker. Not a signal: the terminal may have sent that one too, and two end at once. */
const END = 'end'
/** A worker that dies is replaced after so long, then after twice as long each time, at most so long. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
/** One that lived so long died of something else than those before it. */
const LONG_MS = 60_000

/** Resolves to the exit code when all have ended. `listens` gets the address once the first of them answers. */
export async function runWorkers(cli: Cli, count: number, listens: (url: string) => void): Promise<number> {
  const { signal } = cli
  // Each takes connections from the system itself: what the first process had handed to one that died would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Alone: it may have to make the store, and what is wrong with the command line is said once.
  await cli.servers.relayFigures(signal)
  const first = cluster.fork()
  const isUp = await Promise.race([
    once(first, 'listening').then(([address]) => address as { address: string | null; port: number }),
    once(first, 'exit').then(([code]) => (code ?? 1) as number),
  ])
  if (typeof isUp === 'number') return isUp
  const host = isUp.address ?? '127.0.0.1'
  listens(`http://${host.includes(':') ? `[${host}]` : host}:${isUp.port}`)
  const endAll = (): void => {
    for (const worker of Object.values(cluster.workers ?? {})) if (worker?.isConnected()) worker.send(END)
  }
  signal.addEventListener('abort', endAll, { once: true })
  if (signal.aborted) endAll()
  await Promise.all([
    kept(cli, first),
    ...Array.from({ length: count - 1 }, () => (signal.aborted ? undefined : kept(cli, cluster.fork()))),
  ])
  return 0
}

/** A worker's signal: aborted by a signal of the system, or when the first process says so. To be disposed of at the end. */
export class EndRequest implements Disposable {
  readonly #ended = new AbortController()
  readonly #listen = (message: unknown): void => {
    if (message === END) this.#ended.abort(new QuerentError('cancelled', 'stopped by the first process', {}))
  }
  readonly signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#ended.signal])
    process.on('message', this.#listen)
  }

  /** Who is connected to the first process does not end by itself, and must not be ended before its exit code is known. */
  [Symbol.dispose](): void {
    process.off('message', this.#listen)
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    if (process.connected) process.disconnect()
  }
}

/** One place among the workers: whoever dies there is replaced, until all are to end. */
async function kept({ io, signal }: Cli, worker: Worker): Promise<void> {
  let pause = FIRST_PAUSE_MS
  for (let current = worker; ; current = cluster.fork()) {
    if (signal.aborted && current.isConnected()) current.send(END)
    const started = performance.now()
    const [code, by] = (await once(current, 'exit')) as [number | null, string | null]
    if (signal.aborted) return
    if (performance.now() - started > LONG_MS) pause = FIRST_PAUSE_MS
    await write(io.stderr, `querent: worker ${current.id} ended (${by ?? `code ${code}`}); another in ${pause} ms\n`)
    await sleep(pause, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    pause = Math.min(MAX_PAUSE_MS, pause * 2)
  }
}
