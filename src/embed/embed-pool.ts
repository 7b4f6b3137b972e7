/**
 * The embedding workers of one model. One answers questions; the others start when passages come and end when none have
 * come for a while, as each holds a model of its own (about 90 MB native, 250 MB WebAssembly). Each embeds one text at a
 * time on one thread: two workers of one thread are quicker than one of two threads (80 against 50 to 66 texts a second).
 */

import type { EmbedThread } from './embed-thread.ts'
import { cancelled, type RuntimeName } from './embedder.ts'

/** Most texts that a worker holds at once: one that runs, and some that wait, so that it has no pause when this thread is busy. */
const TEXTS_A_WORKER = 4
/** So many texts must wait before another worker starts: loading a model takes as long as embedding some ten texts. */
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

  /** `makeThread` is called `size` times; what it gives is started at its first use. `idleMs`: see the top of the file. */
  constructor(size: number, makeThread: () => EmbedThread, idleMs: number = IDLE_MS) {
    const make = () => ({ thread: makeThread(), pieces: 0 })
    this.#workers = [make(), ...Array.from({ length: size - 1 }, make)]
    this.#idleMs = idleMs
  }

  get size(): number {
    return this.#workers.length
  }

  /** What the first worker has loaded; null before. */
  get runtime(): RuntimeName | null {
    return this.#first.runtime
  }

  get #first(): EmbedThread {
    return this.#workers[0].thread
  }

  /** Begins to load the first worker's model. */
  start(): void {
    this.#first.start()
  }

  ready(): Promise<RuntimeName> {
    return this.#first.ready()
  }

  /** One vector a text. Questions go to the first worker, where they overtake passages. */
  async questions(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return split(await this.#first.embed(texts, 'query', signal), texts.length)
  }

  /** One vector a text. Texts are begun in the order of the calls; of one call, the longest first. */
  async passages(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    if (this.size === 1) return split(await this.#first.embed(texts, 'passage', signal), texts.length)
    if (signal?.aborted) throw cancelled(signal)
    const failure = new AbortController()
    const stop = signal === undefined ? failure.signal : AbortSignal.any([failure.signal, signal])
    const vectors: Float32Array[] = new Array(texts.length)
    // The longest first: at the end of a call the workers then wait for a short one.
    const order = texts.map((_, at) => at).sort((a, b) => (texts[b] as string).length - (texts[a] as string).length)
    const all = order.map(async at => {
      vectors[at] = await this.#enqueue(texts[at] as string, stop)
    })
    // Once a call, not once a text: a call may have many thousands.
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

  /** Ends the threads; requests under way are rejected. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await Promise.all(this.#workers.map(({ thread }) => thread.close()))
  }

  #enqueue(text: string, signal: AbortSignal): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ text, signal, resolve, reject })
    })
  }

  /** Rejects what waits of that call. What a worker has is cancelled there. */
  #drop(signal: AbortSignal): void {
    const waiting = this.#queue
    this.#queue = waiting.filter(piece => piece.signal !== signal)
    for (const piece of waiting) if (piece.signal === signal) piece.reject(cancelled(signal))
  }

  /**
   * Gives what waits to the workers that have least, the first one before others. A worker holds no more than its share of
   * what waits: at the end of a call none is idle while texts wait at a slower one.
   */
  #pump(): void {
    while (this.#queue.length > 0) {
      const least = this.#usable().reduce((least, worker) => (worker.pieces < least.pieces ? worker : least))
      if (least.pieces >= Math.min(TEXTS_A_WORKER, Math.ceil(this.#queue.length / this.size))) return
      void this.#run(least, this.#queue.shift() as Piece)
    }
  }

  /** A worker that stays down leaves its work to the others. */
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

/** Copies: views would keep the vectors of the whole request in memory. */
function split(values: Float32Array, count: number): readonly Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, at) => values.slice(at * dimensions, (at + 1) * dimensions))
}
