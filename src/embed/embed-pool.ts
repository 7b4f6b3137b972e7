/**
 * The pool of embedding workers of one model. One worker answers queries; the others start when passages arrive and end when no passages
 * have come for a while, because each loads its own copy of the model (about 90 MB native, 250 MB WebAssembly). Each worker embeds one text
 * at a time on one thread: two workers of one thread are faster than one worker of two threads (80 against 50 to 66 texts a second).
 */

import type { EmbedThread } from './embed-thread.ts'
import { cancelled, type RuntimeName } from './embedder.ts'

/**
 * Maximum number of texts handed to one worker at a time: one is being embedded, and the others wait in the worker, so that it does not
 * idle when this thread is too busy to send more.
 */
const TEXTS_A_WORKER = 4
/** Number of texts that must be queued before a further worker is started: loading its model takes as long as embedding about ten texts. */
const WAITING_TO_START = 8
const IDLE_MS = 10_000

interface Piece {
  readonly text: string
  readonly signal: AbortSignal
  readonly resolve: (values: Float32Array) => void
  readonly reject: (error: unknown) => void
}

interface PoolWorker {
  readonly thread: EmbedThread
  pieces: number
}

export class EmbedPool {
  readonly #workers: readonly [PoolWorker, ...PoolWorker[]]
  readonly #idleMs: number
  #queue: Piece[] = []
  #idle: NodeJS.Timeout | undefined

  /**
   * `makeThread` creates a worker thread; it is called `size` times, and each thread starts at its first use. `idleMs`: milliseconds
   * without passages after which all workers except the first end.
   */
  constructor(size: number, makeThread: () => EmbedThread, idleMs: number = IDLE_MS) {
    const make = () => ({ thread: makeThread(), pieces: 0 })
    this.#workers = [make(), ...Array.from({ length: size - 1 }, make)]
    this.#idleMs = idleMs
  }

  get size(): number {
    return this.#workers.length
  }

  /**
   * Name of the runtime (native or WebAssembly) that the pool's first worker runs the model with; null until that worker has loaded the
   * model.
   */
  get runtime(): RuntimeName | null {
    return this.#first.runtime
  }

  get #first(): EmbedThread {
    return this.#workers[0].thread
  }

  /** Begins to load the model in the first worker, which answers queries. */
  start(): void {
    this.#first.start()
  }

  ready(): Promise<RuntimeName> {
    return this.#first.ready()
  }

  /** Embeds queries; returns one vector per text, in order. Queries run on the first worker, ahead of waiting passages. */
  async questions(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return split(await this.#first.embed(texts, 'query', signal), texts.length)
  }

  /** Embeds passages; returns one vector per text, in order. Calls are served in order; the texts of one call start with the longest. */
  async passages(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    if (this.size === 1) return split(await this.#first.embed(texts, 'passage', signal), texts.length)
    if (signal?.aborted) throw cancelled(signal)
    const failure = new AbortController()
    const stop = signal === undefined ? failure.signal : AbortSignal.any([failure.signal, signal])
    const vectors: Float32Array[] = new Array(texts.length)
    // Texts of a call are embedded longest first, so that at the end of the call the workers finish at nearly the same time.
    const order = texts.map((_, at) => at).sort((a, b) => (texts[b] as string).length - (texts[a] as string).length)
    const all = order.map(async at => {
      vectors[at] = await this.#enqueue(texts[at] as string, stop)
    })
    // The whole call has one abort listener rather than one for each of its texts, of which there may be many thousands.
    const drop = () => this.#drop(stop)
    stop.addEventListener('abort', drop, { once: true })
    this.#pump()
    try {
      await Promise.all(all)
      return vectors
    } catch (error) {
      failure.abort()
      await Promise.allSettled(all)
      throw error
    } finally {
      stop.removeEventListener('abort', drop)
    }
  }

  /** Ends the threads; requests that are not answered yet are rejected. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await Promise.all(this.#workers.map(({ thread }) => thread.close()))
  }

  #enqueue(text: string, signal: AbortSignal): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ text, signal, resolve, reject })
    })
  }

  /** Rejects the texts of a cancelled call that still wait in the queue. Texts that a worker already has are cancelled by the worker. */
  #drop(signal: AbortSignal): void {
    const waiting = this.#queue
    this.#queue = waiting.filter(piece => piece.signal !== signal)
    for (const piece of waiting) if (piece.signal === signal) piece.reject(cancelled(signal))
  }

  /**
   * Gives queued texts to the worker that holds the fewest, the first worker if several do. A worker holds no more than its share of the
   * queued texts, so that at the end of a call no worker is idle while texts are queued at a slower worker.
   */
  #pump(): void {
    while (this.#queue.length > 0) {
      const least = this.#usable().reduce((least, worker) => (worker.pieces < least.pieces ? worker : least))
      if (least.pieces >= Math.min(TEXTS_A_WORKER, Math.ceil(this.#queue.length / this.size))) return
      void this.#run(least, this.#queue.shift() as Piece)
    }
  }

  /**
   * The workers that may get texts: the first one, and further ones that run already or may be started because enough texts are queued. A
   * worker given up after repeated crashes gets none.
   */
  #usable(): readonly PoolWorker[] {
    const mayStart = this.#queue.length >= WAITING_TO_START
    return this.#workers.filter(({ thread }, at) => at === 0 || (!thread.isGivenUp && (mayStart || thread.isRunning)))
  }

  async #run(worker: PoolWorker, { text, signal, resolve, reject }: Piece): Promise<void> {
    worker.pieces++
    clearTimeout(this.#idle)
    try {
      resolve(await worker.thread.embed([text], 'passage', signal))
    } catch (error) {
      reject(error)
    }
    worker.pieces--
    this.#pump()
    if (this.#workers.every(({ pieces }) => pieces === 0)) this.#endWhenIdle()
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => {
      for (const { thread } of this.#workers.slice(1)) void thread.rest()
    }, this.#idleMs)
    this.#idle.unref()
  }
}

/** Copies the vectors: views would keep the whole result buffer of the request in memory. */
function split(values: Float32Array, count: number): readonly Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, at) => values.slice(at * dimensions, (at + 1) * dimensions))
}
