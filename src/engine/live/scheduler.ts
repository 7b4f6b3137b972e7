/** Asks standing questions one after the other, in the order in which they fell due, and lets everything else run between them. */
import type { Timers } from './timers.ts'

export class Scheduler {
  readonly #timers: Timers
  readonly #waiting: (() => Promise<void>)[] = []
  #isRunning = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** What the task comes to, when it had its turn. Who waits has no second task: so the queue is bounded by the subscriptions. */
  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(async () => {
        try {
          resolve(await task())
        } catch (error) {
          reject(error)
        }
      })
      if (!this.#isRunning) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await next()
      await this.#timers.turn()
    }
    this.#isRunning = false
  }
}
