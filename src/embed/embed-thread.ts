/**
 * The owner's side of the embedding worker: starts it, hands it requests, notices its death. A request always ends:
 * with vectors, or with an error. Idle, it does not keep the process alive; with requests under way it does.
 */
import type { Worker } from 'node:worker_threads'
import { QuerentError } from '../model/errors.ts'
import { asRefusal, cancelled, type EmbedKind, type RuntimeName } from './embedder.ts'
import type { SentenceModelParts } from './sentence-model.ts'
import { type StartWorker, type StoppableThread, startThread } from './stoppable-thread.ts'

/** After this many deaths without an answer in between it is given up: a model that kills its worker does so again. */
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
  /** Called at each start. */
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

  /** Begins to load the model unless that has happened. A failure shows at the next request. */
  start(): void {
    if (!this.#closed) this.#start()
  }

  /** What runs the model; null while it is not loaded. */
  get runtime(): RuntimeName | null {
    return this.#running?.runtime ?? null
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Whether it died too often: every request is rejected. */
  get isGivenUp(): boolean {
    return this.#deathsInARow >= MAX_DEATHS_IN_A_ROW
  }

  /** Ends the thread where nothing is under way; the next request starts another. */
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

  /** Vectors of all texts, one behind the other. */
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

  /** Ends the thread; requests under way are rejected. */
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
      error => this.#end(running, error), // no death: the next request reads the files again
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
    // Of a text that was alone it tells nothing about the next one; of several, each shows when it is tried alone.
    const isOfOneText = isOfText && requests.length === 1 && only?.texts === 1 && only.kind === 'passage'
    if (!isOfOneText) this.#deathsInARow++
    this.#lastDeath = error.message
    this.#end(running, isOfText ? asRefusal(error) : error)
  }

  /** Rejects what is under way; the next request starts another thread. */
  #end(running: Running, error: Error): void {
    if (this.#running !== running) return
    this.#running = null
    void running.stop()
    for (const reader of running.readers.splice(0)) reader.reject(error)
    for (const request of running.requests.values()) request.reject(error)
    running.requests.clear()
  }

  #holdProcess(running: Running): void {
    if (this.#running !== running) return // it is being stopped, and the process waits for that
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

// What the worker and its owner send each other.

/** Requests may come before `load`; they wait for it. */
export type ToWorker =
  | { readonly type: 'load'; readonly parts: SentenceModelParts }
  | { readonly type: 'embed'; readonly id: number; readonly texts: readonly string[]; readonly kind: EmbedKind }
  | { readonly type: 'cancel'; readonly id: number }

export type FromWorker =
  | { readonly type: 'ready'; readonly runtime: RuntimeName }
  /** The model could not be loaded; the worker is of no use. */
  | { readonly type: 'unusable'; readonly reason: string }
  /** All vectors of a request, one behind the other. */
  | { readonly type: 'vectors'; readonly id: number; readonly values: Float32Array<ArrayBuffer> }
  | { readonly type: 'rejected'; readonly id: number; readonly reason: string }
