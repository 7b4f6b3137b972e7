/** Figures of several processes on one port: a worker asks the first process for those of all, which asks each worker for its own. */
import cluster, { type Worker } from 'node:cluster'
import { isRecord } from '../../base/record.ts'
import type { Figures, Siblings } from './metrics.ts'

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
