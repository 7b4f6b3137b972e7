/**
 * Asks standing questions one after the other, in the order in which they fell due, and lets everything else run between
 * them. One that does not answer in its time is given up, so that it holds up nobody else.
 */
import { QuerentError } from '../../model/errors.ts'
import type { Timers } from './timers.ts'

/** Questions keep their time themselves, and know best how they failed: one that does not is given up this much later. */
const GRACE_MS = 500

export interface Turn {
  /** How long the task may take, from when its turn comes. */
  readonly timeoutMs: number
  /** Ends the waiting, before its turn and in it. */
  readonly signal: AbortSignal
}

export class Scheduler {
  readonly #timers: Timers
  readonly #waiting = new Set<() => Promise<void>>()
  #isRunning = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * What the task comes to, when it had its turn. Rejects with `deadline_exceeded` when it takes too long, and with
   * `cancelled` when the signal comes; what it comes to after that is nobody's. Who waits has no second task: so the queue
   * is bounded by the subscriptions.
   */
  run<T>(task: (signal: AbortSignal) => Promise<T>, { timeoutMs, signal }: Turn): Promise<T> {
    return new Promise((resolve, reject) => {
      const turn = async () => {
        signal.removeEventListener('abort', leave)
        await this.#limited(task, timeoutMs, signal).then(resolve, reject)
      }
      const leave = () => {
        this.#waiting.delete(turn)
        reject(stopped(signal))
      }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(turn)
      if (!this.#isRunning) void this.#work()
    })
  }

  async #limited<T>(task: (signal: AbortSignal) => Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
    const own = new AbortController()
    const given = Promise.withResolvers<never>()
    const giveUp = (error: QuerentError) => {
      given.reject(error)
      own.abort(error)
    }
    const stop = () => giveUp(stopped(signal))
    const cancelAlarm = this.#timers.after(timeoutMs + GRACE_MS, () => giveUp(late(timeoutMs)))
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await Promise.race([task(own.signal), given.promise])
    } finally {
      cancelAlarm()
      signal.removeEventListener('abort', stop)
    }
  }

  async #work(): Promise<void> {
    this.#isRunning = true
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      await next()
      await this.#timers.turn()
    }
    this.#isRunning = false
  }
}

function late(timeoutMs: number): QuerentError {
  return new QuerentError('deadline_exceeded', `the question took longer than ${timeoutMs} ms`, {
    timeout_ms: timeoutMs,
  })
}

function stopped({ reason }: AbortSignal): QuerentError {
  return new QuerentError('cancelled', 'stopped before it was answered', {}, reason)
}
