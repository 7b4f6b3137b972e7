/** Real child processes for tests: started from a script beside the test, talking in lines, killed without warning. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const POLL_MS = 5
/** Whoever says nothing for so long, on however busy a machine, hangs. */
const PATIENCE_MS = 300_000
/** Waits of a millisecond or more, after which a child is killed whatever it said. */
const PATIENCE_TURNS = 20_000

export class Child implements AsyncDisposable {
  /** Whole lines of standard output so far. */
  readonly lines: string[] = []
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  #errors = ''

  /** `script` is a file beside the module at `base` (its `import.meta.url`). */
  constructor(script: string, base: string, args: readonly string[]) {
    const path = fileURLToPath(new URL(script, base))
    this.#process = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
    const reader = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })
    reader.on('line', line => this.lines.push(line))
    this.#process.stderr?.on('data', chunk => {
      this.#errors += String(chunk)
    })
    this.#ended = Promise.all([once(this.#process, 'exit'), once(reader, 'close')])
  }

  /** Waits until a line starts with `start`; rejects with what the child complained of when it ends before. */
  says(start: string): Promise<string> {
    return this.#says(line => line.startsWith(start), start)
  }

  /** The same of a line that matches. */
  saysLike(pattern: RegExp): Promise<string> {
    return this.#says(line => pattern.test(line), pattern.source)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** So that the same can be waited for again. */
  forget(start: string): void {
    const left = this.lines.filter(line => !line.startsWith(start))
    this.lines.splice(0, this.lines.length, ...left)
  }

  /** SIGSTOP, and SIGCONT: it hangs and goes on as if nothing had been. */
  pause(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }

  tell(line: string): void {
    this.#process.stdin?.write(`${line}\n`)
  }

  /** SIGKILL, and all lines that the child got out before. A last line that is cut off is left out. */
  async kill(): Promise<readonly string[]> {
    this.#process.kill('SIGKILL')
    await this.#ended
    return this.lines
  }

  /** `killAtWork`, when it has said so many lines, and up to `maxWaitMs` later. */
  async killAfter(lines: number, maxWaitMs: number, random: () => number): Promise<readonly string[]> {
    for (let waited = 0; this.lines.length < lines && waited < PATIENCE_TURNS; waited++) await sleep(1)
    await sleep(random() * maxWaitMs)
    return await this.killAtWork()
  }

  /** `kill`, of one that must still be at work; rejects with what it complained of when it is not. */
  async killAtWork(): Promise<readonly string[]> {
    const isAtWork = this.#process.exitCode === null && this.#process.signalCode === null
    const lines = await this.kill()
    if (!isAtWork) throw new Error(`the child ended by itself: ${this.#errors}`)
    return lines
  }

  /** Waits for its own end; rejects unless it ended well. */
  async end(): Promise<void> {
    await this.#ended
    if (this.#process.exitCode !== 0) throw new Error(`the child failed: ${this.#errors}`)
  }

  async #says(isIt: (line: string) => boolean, what: string): Promise<string> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const line = this.lines.find(isIt)
      if (line !== undefined) return line
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        await this.#ended
        if (this.lines.some(isIt)) continue
        throw new Error(`the child ended without saying "${what}": ${this.#errors || this.lines.join('\n')}`)
      }
      if (performance.now() > end)
        throw new Error(`the child does not say "${what}": ${this.lines.slice(-3).join('\n')}`)
      await Promise.race([this.#ended, new Promise(resolve => setTimeout(resolve, POLL_MS))])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
