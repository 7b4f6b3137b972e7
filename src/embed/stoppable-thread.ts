/** The thread of the embedding worker: started so that it can be ended without the process dying of it. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { siblingModule } from '../base/module-url.ts'

/** Starts a worker; tests watch and end real ones through it. */
export type StartWorker = (options: WorkerOptions) => Worker

export interface StoppableThread {
  readonly worker: Worker
  /** Ends the thread, not inside native code. */
  readonly stop: () => Promise<void>
}

export function startThread(start: StartWorker = startWorker): StoppableThread {
  const gate = new RunGate()
  // Not the flags of this process: --eval and --input-type would keep a worker from starting.
  const worker = start({ name: 'querent embedder', workerData: gate.memory, execArgv: [] })
  const forget = shutAtExit(gate)
  worker.once('exit', () => {
    forget()
    gate.leave() // in case it died inside
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    worker.ref() // the process must live to see the end, which is near
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

/** Longer than any run; then the thread is ended whatever it does. */
const MAX_WAIT_MS = 10_000

/**
 * Keeps a worker from being ended inside native code: ONNX Runtime aborts the whole process when its thread is
 * terminated during a run. The worker passes the gate before each run; the owner shuts it and waits for the worker to
 * be outside. Shared memory, because at process exit no message can be waited for.
 */
export class RunGate {
  /** To be handed to the other thread. */
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
  }

  /** Worker: runs the work, or gives null without running it where the gate is shut. */
  async pass<T>(work: () => Promise<T>): Promise<T | null> {
    Atomics.store(this.#cells, INSIDE, 1)
    try {
      // Asked after saying "inside", as the owner looks inside after shutting: one of the two sees the other.
      return Atomics.load(this.#cells, SHUT) === 1 ? null : await work()
    } finally {
      this.leave()
    }
  }

  /** Says that nobody is inside. */
  leave(): void {
    Atomics.store(this.#cells, INSIDE, 0)
    Atomics.notify(this.#cells, INSIDE)
  }

  /** Owner: lets nothing in any more and resolves when the worker is outside. */
  async shut(): Promise<void> {
    Atomics.store(this.#cells, SHUT, 1)
    await Atomics.waitAsync(this.#cells, INSIDE, 1, MAX_WAIT_MS).value
  }

  /** The same, blocking this thread meanwhile: one run takes some 10 ms, loading a model some 100 ms. */
  shutNow(): void {
    Atomics.store(this.#cells, SHUT, 1)
    Atomics.wait(this.#cells, INSIDE, 1, MAX_WAIT_MS)
  }
}

const atExit = new Set<RunGate>()

/** Has the gate shut before the process tears its threads down. Undone by the function returned. */
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
