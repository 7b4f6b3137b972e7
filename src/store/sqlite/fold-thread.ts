/** The owner's side of the thread that folds a log back: started when it is first needed, one order at a time. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { siblingModule } from '../../base/module-url.ts'
import { QuerentError } from '../../model/errors.ts'
import type { FoldOrder, FoldReply } from './fold-log.ts'

export class FoldThread {
  readonly #file: string
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(file: string) {
    this.#file = file
  }

  /** Rejects with `io_failed` when the fold fails or the thread ends; the next order starts another one. */
  fold(order: FoldOrder): Promise<boolean> {
    const done = this.#last.then(() => this.#fold(order))
    this.#last = done.catch(() => undefined)
    return done
  }

  async end(): Promise<void> {
    await this.#last
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  async #fold(order: FoldOrder): Promise<boolean> {
    const worker = this.#worker ?? this.#start()
    const gone = new AbortController()
    const leave = () => gone.abort()
    worker.once('exit', leave)
    try {
      worker.postMessage(order)
      const [reply] = (await once(worker, 'message', { signal: gone.signal })) as [FoldReply]
      if ('done' in reply) return reply.done
      throw this.#failed(reply.failure)
    } catch (error) {
      if (error instanceof QuerentError) throw error
      throw this.#failed(gone.signal.aborted ? 'the thread ended' : String(error))
    } finally {
      worker.off('exit', leave)
    }
  }

  #start(): Worker {
    const worker = new Worker(siblingModule(import.meta.url, 'fold-worker'), { workerData: this.#file })
    // Nobody waits for a fold to end a process: the log is folded back at closing.
    worker.unref()
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    this.#worker = worker
    return worker
  }

  #failed(cause: string): QuerentError {
    return new QuerentError('io_failed', `${this.#file}: folding its log back failed (${cause})`, {
      path: this.#file,
      cause,
    })
  }
}
