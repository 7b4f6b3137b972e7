/** A peer in a process of its own: what it keeps, and how it ends, is not the business of the others. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Reply, Request } from './exchange.ts'

const PROGRAM = fileURLToPath(new URL('../child.ts', import.meta.url))

export class PeerProcess {
  readonly #child: ChildProcess
  #waiting: { resolve(answer: unknown): void; reject(error: Error): void } | undefined
  #log = ''

  static async start(name: string, rows: number, folder: string, heapMb?: number): Promise<PeerProcess> {
    const started = new PeerProcess(name, rows, folder, heapMb)
    await started.#answer()
    return started
  }

  private constructor(name: string, rows: number, folder: string, heapMb = 8192) {
    this.#child = fork(PROGRAM, [name, String(rows), folder], {
      execArgv: [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child.stderr?.on('data', (part: Buffer) => {
      this.#log = `${this.#log}${part}`.slice(-2000)
    })
    this.#child.on('message', (reply: Reply) => {
      const waiting = this.#waiting
      this.#waiting = undefined
      if ('failed' in reply) waiting?.reject(new Error(reply.failed))
      else waiting?.resolve(reply.answer)
    })
    this.#child.once('exit', (code, signal) => {
      this.#waiting?.reject(new Error(`its process ended (${signal ?? code}): ${this.#log.trim().slice(-300)}`))
    })
  }

  /** One request at a time. */
  async ask<T>(request: Request): Promise<T> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error('its process has ended')
    this.#child.send(request)
    return (await this.#answer()) as T
  }

  async end(): Promise<void> {
    await this.ask({ act: 'close' }).catch(() => {})
    if (this.#child.connected) this.#child.disconnect()
  }

  #answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }
}
