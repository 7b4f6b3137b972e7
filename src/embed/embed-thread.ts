/**
 * The engine's side of the embedding worker: starts the worker, sends it requests, notices its death. A request always ends with vectors or
 * with an error. The worker keeps the process alive only while requests are pending.
 */
import type { Worker } from 'node:worker_threads'
import { QuerentError } from '../model/errors.ts'
import { asRefusal, cancelled, type EmbedKind, type RuntimeName } from './embedder.ts'
import type { SentenceModelParts } from './sentence-model.ts'
import { type StartWorker, type StoppableThread, startThread } from './stoppable-thread.ts'

/**
 * Number of crashes of the worker, without an answer in between, after which it is not started again: the model itself probably kills its
 * worker.
 */
const MAX_DEATHS_IN_A_ROW = 3

interface Waiting<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

interface Request extends Waiting<Float32Array> {
  readonly texts: number
  readonly kind: EmbedKind
}

interface Running extends StoppableThread {
  readonly requests: Map<number, Request>
  readonly readers: Waiting<RuntimeName>[]
  runtime: RuntimeName | null
}

export interface EmbedThreadOptions {
  /** Loads the files of the model; called at each start of the worker. */
  readonly loadParts: () => Promise<SentenceModelParts>
  readonly startWorker?: StartWorker | undefined
}

export class EmbedThread {
  readonly #options: EmbedThreadOptions
  #running: Running | null = null
  #deathsInARow = 0
  #lastDeath = ''
  #lastId = 0
  #closed = false

  constructor(options: EmbedThreadOptions) {
    this.#options = options
  }

  /** Starts loading the model unless it is loading or loaded already. If that fails, the next request is rejected with the error. */
  start(): void {
    if (!this.#closed) this.#start()
  }

  /** The runtime that runs the model; null while the model is not loaded. */
  get runtime(): RuntimeName | null {
    return this.#running?.runtime ?? null
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Whether the worker crashed too often in succession; then every request is rejected and the worker is not started again. */
  get isGivenUp(): boolean {
    return this.#deathsInARow >= MAX_DEATHS_IN_A_ROW
  }

  /** Ends the worker thread if no request is pending; a later request starts a new one. */
  async rest(): Promise<void> {
    const running = this.#running
    if (running === null || running.requests.size > 0 || running.readers.length > 0) return
    this.#running = null
    await running.stop()
  }

  /** Resolves when the model is loaded. */
  ready(): Promise<RuntimeName> {
    return this.#ask((running, waiting) => {
      if (running.runtime !== null) waiting.resolve(running.runtime)
      else running.readers.push(waiting)
    })
  }

  /** Resolves with the vectors of all texts, concatenated in one array. */
  embed(texts: readonly string[], kind: EmbedKind, signal: AbortSignal | undefined): Promise<Float32Array> {
    if (signal?.aborted) return Promise.reject(cancelled(signal))
    return this.#ask((running, waiting) => {
      const id = ++this.#lastId
      const cancel = () => {
        if (!running.requests.delete(id)) return
        post(running.worker, { type: 'cancel', id })
        this.#holdProcess(running)
        waiting.reject(cancelled(signal))
      }
      const unhook = () => signal?.removeEventListener('abort', cancel)
      signal?.addEventListener('abort', cancel, { once: true })
      running.requests.set(id, {
        texts: texts.length,
        kind,
        resolve: values => {
          unhook()
          waiting.resolve(values)
        },
        reject: error => {
          unhook()
          waiting.reject(error)
        },
      })
      post(running.worker, { type: 'embed', id, texts, kind })
    })
  }

  /** Ends the thread; requests that are not answered yet are rejected. */
  async close(): Promise<void> {
    this.#closed = true
    const running = this.#running
    if (running === null) return
    this.#end(running, closedError())
    await running.stop()
  }

  #ask<T>(submit: (running: Running, waiting: Waiting<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      if (this.isGivenUp) return reject(givenUpError(this.#lastDeath))
      const running = this.#running ?? this.#start()
      submit(running, { resolve, reject })
      this.#holdProcess(running)
    })
  }

  #start(): Running {
    if (this.#running !== null) return this.#running
    const thread = startThread(this.#options.startWorker)
    const { worker } = thread
    const running: Running = { ...thread, requests: new Map(), readers: [], runtime: null }
    this.#running = running
    worker.unref()
    worker.on('message', (message: FromWorker) => this.#hear(running, message))
    worker.on('error', error => this.#die(running, failed('the embedding worker failed', error)))
    worker.on('exit', () => this.#die(running, failed('the embedding worker ended unexpectedly')))
    this.#options.loadParts().then(
      parts => post(worker, { type: 'load', parts }, [parts.weights.buffer as ArrayBuffer]),
      error => this.#end(running, error), // not a crash of the worker thread: the next request reads the model files again
    )
    return running
  }

  #hear(running: Running, message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        running.runtime = message.runtime
        for (const reader of running.readers.splice(0)) reader.resolve(message.runtime)
        break
      case 'unusable':
        this.#die(running, failed(`the embedding model could not be loaded: ${message.reason}`))
        break
      case 'vectors':
        this.#deathsInARow = 0
        take(running.requests, message.id)?.resolve(message.values)
        break
      case 'rejected':
        take(running.requests, message.id)?.reject(asRefusal(failed(`a text could not be embedded: ${message.reason}`)))
        break
    }
    this.#holdProcess(running)
  }

  #die(running: Running, error: QuerentError): void {
    if (this.#running !== running) return
    const requests = [...running.requests.values()]
    const [only] = requests
    const isOfText = running.runtime !== null && requests.length > 0
    // A crash on a single passage says nothing about other texts, so it does not count. After a crash on several texts, each is tried alone
    // to find the cause.
    const isOfOneText = isOfText && requests.length === 1 && only?.texts === 1 && only.kind === 'passage'
    if (!isOfOneText) this.#deathsInARow++
    this.#lastDeath = error.message
    this.#end(running, isOfText ? asRefusal(error) : error)
  }

  /** Rejects the pending requests and ends the worker thread; a later request starts a new one. */
  #end(running: Running, error: Error): void {
    if (this.#running !== running) return
    this.#running = null
    void running.stop()
    for (const reader of running.readers.splice(0)) reader.reject(error)
    for (const request of running.requests.values()) request.reject(error)
    running.requests.clear()
  }

  #holdProcess(running: Running): void {
    if (this.#running !== running) return // the worker thread is being stopped, and `stop` keeps the process alive meanwhile
    if (running.requests.size > 0 || running.readers.length > 0) running.worker.ref()
    else running.worker.unref()
  }
}

function take<T>(requests: Map<number, T>, id: number): T | undefined {
  const request = requests.get(id)
  requests.delete(id)
  return request
}

function post(worker: Worker, message: ToWorker, transfer: ArrayBuffer[] = []): void {
  worker.postMessage(message, transfer)
}

function failed(message: string, cause?: unknown): QuerentError {
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  return new QuerentError('embedder_failed', reason, {}, cause)
}

function closedError(): QuerentError {
  return failed('the embedder is closed')
}

function givenUpError(reason: string): QuerentError {
  return failed(`the embedding worker died ${MAX_DEATHS_IN_A_ROW} times in a row and is not restarted: ${reason}`)
}

// Messages between the embedding worker and the thread that started it.

/** A request may arrive before the `load` message; it then waits for the model to load. */
export type ToWorker =
  | { readonly type: 'load'; readonly parts: SentenceModelParts }
  | { readonly type: 'embed'; readonly id: number; readonly texts: readonly string[]; readonly kind: EmbedKind }
  | { readonly type: 'cancel'; readonly id: number }

export type FromWorker =
  | { readonly type: 'ready'; readonly runtime: RuntimeName }
  /** Sent by the worker: the model could not be loaded, so the worker cannot embed anything. */
  | { readonly type: 'unusable'; readonly reason: string }
  /** Sent by the worker: the vectors of all texts of a request, concatenated in one array. */
  | { readonly type: 'vectors'; readonly id: number; readonly values: Float32Array<ArrayBuffer> }
  | { readonly type: 'rejected'; readonly id: number; readonly reason: string }
