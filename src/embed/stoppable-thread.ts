/** The thread of the embedding worker: started so that it can be ended without the process dying of it. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { siblingModule } from '../base/module-url.ts'
import { RunGate, shutAtExit } from './run-gate.ts'

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
