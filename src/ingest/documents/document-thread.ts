/**
 * Reads documents one after the other in a thread of their own, each within a time and a memory: one that needs more is refused, and
 * the thread ended with it. The thread ends by itself when there has been nothing to read for a while.
 */
import { Worker } from 'node:worker_threads'
import { siblingModule } from '../../base/module-url.ts'
import type { DocumentReply, DocumentRequest } from './document-worker.ts'

/** Milliseconds for one document. 10,000 pages of a PDF take 16 s. */
const TIME_LIMIT = 60_000
/** MiB of the heap of JavaScript; buffers come on top. */
const MEMORY_LIMIT = 1024
/** Milliseconds. */
const IDLE = 1_000

let last: Promise<unknown> = Promise.resolve()
let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | null = null

/** The bytes are transferred. Rejects when `signal` aborts. */
export function inDocumentThread(
  request: DocumentRequest,
  signal: AbortSignal,
  timeLimit: number = TIME_LIMIT,
): Promise<DocumentReply> {
  const turn = last.then(() => readOne(request, signal, timeLimit))
  last = turn.catch(() => {})
  return turn
}

async function readOne(request: DocumentRequest, signal: AbortSignal, timeLimit: number): Promise<DocumentReply> {
  signal.throwIfAborted()
  const worker = takeWorker()
  const { promise, resolve, reject } = Promise.withResolvers<DocumentReply>()
  const refuse = (message: string): void => resolve({ kind: 'failed', message })
  const timer = setTimeout(() => refuse(`reading it took more than ${timeLimit / 1000} seconds`), timeLimit)
  const abort = (): void => reject(signal.reason)
  const died = (error: Error & { code?: string }): void => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    refuse(isMemory ? `reading it took more than ${MEMORY_LIMIT} MiB of memory` : `damaged: ${error.message}`)
  }
  const ended = (): void => refuse('the thread that read it ended')
  signal.addEventListener('abort', abort, { once: true })
  worker.once('message', resolve).once('error', died).once('exit', ended)
  let isAlive = false
  worker.once('message', () => {
    isAlive = true
  })
  try {
    worker.postMessage(request, [request.bytes.buffer])
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    worker.off('message', resolve).off('error', died).off('exit', ended)
    if (isAlive) leaveIdle(worker)
    else await worker.terminate()
  }
}

function takeWorker(): Worker {
  if (idle !== null) {
    const { worker } = idle
    forget(worker)
    worker.ref()
    return worker
  }
  // Not the flags of this process: --eval and --input-type would keep a worker from starting.
  const worker = new Worker(siblingModule(import.meta.url, 'document-worker'), {
    name: 'querent documents',
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT },
  })
  worker.on('error', () => {}) // told to whoever waits for it
  worker.once('exit', () => forget(worker))
  return worker
}

function leaveIdle(worker: Worker): void {
  worker.unref()
  const timer = setTimeout(() => {
    forget(worker)
    void worker.terminate()
  }, IDLE)
  timer.unref()
  idle = { worker, timer }
}

function forget(worker: Worker): void {
  if (idle?.worker !== worker) return
  clearTimeout(idle.timer)
  idle = null
}
