/**
 * A worker thread that runs one module of this program and answers one message after another. The first message starts the thread; after
 * the thread has ended, the next message starts a new one.
 */

import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads'
import { must } from './assert.ts'

export interface ThreadOptions extends WorkerOptions {
  /** Whether the process stays alive while a message to the thread has not been answered. Default: true. */
  readonly keepsAlive?: boolean
  /** Milliseconds without a message after which the thread ends. Default: it runs until `end` is called. */
  readonly idleMs?: number
}

interface AskOptions {
  readonly transfer?: readonly ArrayBuffer[]
  /** Aborting this signal ends the thread. */
  readonly signal?: AbortSignal
  /**
   * Time limit for an answer, in milliseconds. If it passes, the thread is ended, and the call rejects with an error with the code
   * `ERR_THREAD_LATE`.
   */
  readonly timeLimit?: number
}

type Answer<Reply> = { readonly value: Reply } | { readonly failure: { readonly message: string } }

export class Thread<Request, Reply> {
  readonly #module: URL
  readonly #options: ThreadOptions
  #worker: Worker | null = null
  /** Whether a message sent to the thread has not been answered yet. */
  #isBusy = false
  #idle: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(module: URL, options: ThreadOptions = {}) {
    this.#module = module
    this.#options = options
  }

  /**
   * Sends a message and resolves with the answer. Rejects with the error that the module throws (message, code and details), or when the
   * thread ends before it has answered.
   */
  ask(request: Request, options: AskOptions = {}): Promise<Reply> {
    const reply = this.#last.then(() => this.#ask(request, options))
    this.#last = reply.catch(() => undefined)
    return reply
  }

  /** Ends the thread after all messages sent so far have been answered. */
  async end(): Promise<void> {
    await this.#last
    await this.#terminate()
  }

  async #ask(request: Request, { transfer = [], signal, timeLimit }: AskOptions): Promise<Reply> {
    signal?.throwIfAborted()
    const worker = this.#take()
    const { promise, resolve, reject } = Promise.withResolvers<Answer<Reply>>()
    const abort = () => reject(signal?.reason)
    const late = () => reject(Object.assign(new Error('the thread took too long'), { code: 'ERR_THREAD_LATE' }))
    const ended = () => reject(new Error('the thread ended'))
    const timer = timeLimit === undefined ? undefined : setTimeout(late, timeLimit)
    signal?.addEventListener('abort', abort, { once: true })
    worker.once('message', resolve).once('error', reject).once('exit', ended)
    try {
      worker.postMessage(request, transfer)
      const answer = await promise
      this.#rest(worker)
      if ('value' in answer) return answer.value
      throw Object.assign(new Error(answer.failure.message), answer.failure)
    } catch (error) {
      if (this.#worker === worker && this.#isBusy) await this.#terminate()
      throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      worker.off('message', resolve).off('error', reject).off('exit', ended)
    }
  }

  #take(): Worker {
    clearTimeout(this.#idle)
    this.#isBusy = true
    this.#worker ??= this.#start()
    if (this.#options.keepsAlive !== false) this.#worker.ref()
    return this.#worker
  }

  #start(): Worker {
    // The worker thread must not inherit this process's command-line flags, because `--eval` and `--input-type` would keep it from
    // starting.
    const worker = new Worker(this.#module, { execArgv: [], ...this.#options })
    worker.unref()
    worker.on('error', () => {}) // An error of the worker rejects only the message being answered; it must not end the process.
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    return worker
  }

  #rest(worker: Worker): void {
    this.#isBusy = false
    worker.unref()
    const { idleMs } = this.#options
    if (idleMs !== undefined) this.#idle = setTimeout(() => void this.#terminate(), idleMs).unref()
  }

  async #terminate(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }
}

/** Called by a module that runs in a worker thread: `handle` computes the answer to each message. */
export function answerMessages<Request>(handle: (request: Request) => unknown): void {
  const port = must(parentPort, 'the port to the owner')
  port.on('message', async (request: Request) => {
    try {
      port.postMessage({ value: await handle(request) })
    } catch (error) {
      const { message = String(error), code, details } = error as { message?: string; code?: string; details?: unknown }
      port.postMessage({ failure: { message, code, details } })
    }
  })
}
