/** The process with the shim: takes orders as lines and accounts for each. Rejects when it dies or does not answer. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TempFolder } from '../../support/temp-folder.ts'
import { Control } from './control.ts'
import type { Account, Order } from './life-child.ts'
import { buildShim } from './shim.ts'

/** A life takes a tenth of a second on a machine that is busy with nothing else; others may be busy with anything. */
const PATIENCE_MS = 300_000

export class LivingChild implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #lines: AsyncIterator<string>
  #errors = ''

  /** Input and output fail below `watched`; the shim and its plan stand in `folder`. */
  static async start(folder: TempFolder, watched: string): Promise<LivingChild> {
    const shim = buildShim(folder.file('shim.so'))
    const child = new LivingChild(shim, Control.make(folder.file('control')), watched)
    await child.#next()
    return child
  }

  private constructor(shim: string, control: string, watched: string) {
    const script = fileURLToPath(new URL('life-child.ts', import.meta.url))
    const env = {
      ...process.env,
      ...{ LD_PRELOAD: shim, IO_FAULT_FOLDER: watched, IO_FAULT_CONTROL: control },
      // Else calls may go to the kernel by another way than the C library.
      UV_USE_IO_URING: '0',
    }
    this.#process = spawn(process.execPath, [script, control], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
    this.#process.stderr?.on('data', chunk => {
      this.#errors += String(chunk)
    })
  }

  async live(order: Order): Promise<Account> {
    this.#process.stdin?.write(`${JSON.stringify(order)}\n`)
    const said = JSON.parse(await this.#next())
    if ('unhandled' in said) throw new Error(`an error that nobody caught: ${said.unhandled}`)
    return said as Account
  }

  async #next(): Promise<string> {
    const stop = new AbortController()
    const late = sleep(PATIENCE_MS, null, { signal: stop.signal }).catch(() => null)
    try {
      const said = await Promise.race([this.#lines.next(), late])
      if (said === null) throw new Error('hangs')
      if (said.done === true) throw new Error(`the process died: ${this.#errors}`)
      return said.value
    } finally {
      stop.abort()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}
