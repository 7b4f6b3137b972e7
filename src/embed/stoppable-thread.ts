/** The thread of the embedding worker, started in such a way that ending it cannot crash the process. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { siblingModule } from '../base/module-url.ts'
import { turnOffTelemetry } from './onnx-runtime.ts'

/** The type of a function that starts a worker thread; tests pass a function of their own, to watch and end real threads. */
export type StartWorker = (options: WorkerOptions) => Worker

export interface StoppableThread {
  readonly worker: Worker
  /** Ends the worker thread, after its current run of native code has finished. */
  readonly stop: () => Promise<void>
}

export function startThread(start: StartWorker = startWorker): StoppableThread {
  const gate = new RunGate()
  turnOffTelemetry()
  // The worker thread must not inherit this process's command-line flags, because `--eval` and `--input-type` would keep it from starting.
  const worker = start({ name: 'querent embedder', workerData: gate.memory, execArgv: [] })
  const forget = shutAtExit(gate)
  worker.once('exit', () => {
    forget()
    gate.leave() // If the worker died while it ran native code, it could not mark itself as outside the gate; so this thread does it.
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    worker.ref() // keeps the process alive until the worker thread has ended, which does not take long
    stopped ??= gate.shut().then(async () => {
      await worker.terminate()
    })
    return stopped
  }
  return { worker, stop }
}

function startWorker(options: WorkerOptions): Worker {
  return new Worker(siblingModule(import.meta.url, 'onnx-worker'), options)
}

const INSIDE = 0
const SHUT = 1

/**
 * Longest time in milliseconds to wait until a worker has finished its run of native code, longer than any run takes; after that the worker
 * thread is ended in any case.
 */
const MAX_WAIT_MS = 10_000

/**
 * Keeps a worker from being ended inside native code: ONNX Runtime aborts the whole process if its thread is terminated during a run. The
 * worker passes this gate before each run; the owner shuts the gate and waits until the worker is outside. Uses shared memory, because no
 * message can be awaited at process exit.
 */
export class RunGate {
  /** The gate's shared memory, which must be passed to the other thread. */
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
  }

  /** For the worker: passes the gate and runs `work`; returns null without running it if the gate is shut. */
  async pass<T>(work: () => Promise<T>): Promise<T | null> {
    Atomics.store(this.#cells, INSIDE, 1)
    try {
      // Each side writes before it reads: the worker marks itself as inside, then reads whether the gate is shut; the owner shuts the gate,
      // then reads whether the worker is inside. So at least one of the two sees the other.
      return Atomics.load(this.#cells, SHUT) === 1 ? null : await work()
    } finally {
      this.leave()
    }
  }

  /** For the worker: marks that it is not running native code, and wakes the owner that waits to end the thread. */
  leave(): void {
    Atomics.store(this.#cells, INSIDE, 0)
    Atomics.notify(this.#cells, INSIDE)
  }

  /**
   * For the owner of the worker: shuts the gate, so that the worker begins no further run of native code; resolves when the present run has
   * ended.
   */
  async shut(): Promise<void> {
    Atomics.store(this.#cells, SHUT, 1)
    await Atomics.waitAsync(this.#cells, INSIDE, 1, MAX_WAIT_MS).value
  }

  /**
   * For the owner of the worker: shuts the gate, and blocks this thread until the worker's present run of native code has ended. A run
   * takes about 10 ms, loading a model about 100 ms.
   */
  shutNow(): void {
    Atomics.store(this.#cells, SHUT, 1)
    Atomics.wait(this.#cells, INSIDE, 1, MAX_WAIT_MS)
  }
}

const atExit = new Set<RunGate>()

/**
 * Registers a gate to be shut at process exit, before the process ends its worker threads. The returned function removes the registration.
 */
export function shutAtExit(gate: RunGate): () => void {
  if (atExit.size === 0) process.on('exit', shutAll)
  atExit.add(gate)
  return () => {
    atExit.delete(gate)
    if (atExit.size === 0) process.removeListener('exit', shutAll)
  }
}

function shutAll(): void {
  for (const gate of atExit) gate.shutNow()
}
