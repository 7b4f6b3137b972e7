/** Scheduling of live queries: when their answers are computed again, and when the resulting events are sent. */
import type { Timers } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'

/**
 * Milliseconds that are added to the present time before the next grid point (one of the fixed times at which events may be sent) is
 * chosen. A change exactly at a grid point is thus reported at the following point.
 */
const SOONEST_MS = 0.001

/**
 * One timer that fires only at multiples of a fixed interval after its start (grid points), so that the time at which it fires reveals
 * nothing about when something was written.
 */
export class GridAlarm {
  readonly #timers: Timers
  readonly #start: number
  readonly #stepMs: number
  readonly #ring: () => void
  #set: { readonly at: number; readonly stop: () => void } | null = null

  /** `stepMs` is the interval between grid points, which begin now; 0 lets the timer fire at any time. */
  constructor(timers: Timers, stepMs: number, ring: () => void) {
    this.#timers = timers
    this.#start = timers.now()
    this.#stepMs = stepMs
    this.#ring = ring
  }

  get isSet(): boolean {
    return this.#set !== null
  }

  setForNext(): void {
    this.setFor(this.#timers.now() + (this.#stepMs === 0 ? 0 : SOONEST_MS))
  }

  /** Sets the timer for the first grid point at or after this time, unless the timer is already set for an earlier point. */
  setFor(time: number): void {
    const at = this.#stepMs === 0 ? time : this.#start + Math.ceil((time - this.#start) / this.#stepMs) * this.#stepMs
    if (this.#set !== null && this.#set.at <= at) return
    this.stop()
    const ring = () => {
      this.#set = null
      this.#ring()
    }
    this.#set = { at, stop: this.#timers.after(Math.max(0, at - this.#timers.now()), ring) }
  }

  stop(): void {
    this.#set?.stop()
    this.#set = null
  }
}

/**
 * Milliseconds after the time limit of a query until the scheduler cancels it. Normally the query itself ends at its time limit, with a
 * better error message.
 */
const GRACE_MS = 500

/** Runs the queries of subscriptions one at a time, in the order in which they became due, and lets other tasks run between two queries. */
export class Scheduler {
  readonly #timers: Timers
  #last: Promise<unknown> = Promise.resolve()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * Waits for its turn, runs the task, and resolves with its result. Rejects with `deadline_exceeded` if the task takes longer than
   * `timeoutMs`, so that it does not hold up the tasks behind it, and with `cancelled` as soon as the signal is aborted.
   */
  run<T>(
    task: (signal: AbortSignal) => Promise<T>,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<T> {
    const own = new AbortController()
    const given = Promise.withResolvers<never>()
    let cancelAlarm = () => {}
    const giveUp = (error: QuerentError) => {
      given.reject(error)
      own.abort(error)
    }
    const leave = () => giveUp(new QuerentError('cancelled', 'stopped before it was answered', {}, signal.reason))
    const late = `the query took longer than ${timeoutMs} ms`
    const turn = (): Promise<T> => {
      if (own.signal.aborted) return given.promise
      cancelAlarm = this.#timers.after(timeoutMs + GRACE_MS, () =>
        giveUp(new QuerentError('deadline_exceeded', late, { timeout_ms: timeoutMs })),
      )
      return Promise.race([task(own.signal), given.promise])
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    const had = this.#last.then(turn)
    const over = () => this.#timers.turn()
    this.#last = had.then(over, over)
    return Promise.race([had, given.promise]).finally(() => {
      cancelAlarm()
      signal.removeEventListener('abort', leave)
    })
  }
}
