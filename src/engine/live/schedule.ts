/** Decides when live queries run, and when their events are sent. */
import type { Timers } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'

/**
 * Added to the present time, so that a change exactly at a grid point waits for the next one: everything reported at a point happened
 * before it.
 */
const SOONEST_MS = 0.001

/** One timer on a fixed grid of times: it always fires at a point of the grid, so the time at which it fires reveals nothing. */
export class GridAlarm {
  readonly #timers: Timers
  readonly #start: number
  readonly #stepMs: number
  readonly #ring: () => void
  #set: { readonly at: number; readonly stop: () => void } | null = null

  /** The grid starts now. A step of 0 means that every moment is a point of the grid. */
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

  /** Sets the timer for the first grid point at or after this time, unless it is set for an earlier one. */
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

/** A query enforces its own time limit and reports best how it failed; a query that does not is cancelled this many milliseconds later. */
const GRACE_MS = 500

/** Runs one query at a time, in the order in which they became due, and lets other tasks run in between. */
export class Scheduler {
  readonly #timers: Timers
  #last: Promise<unknown> = Promise.resolve()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * Runs the task when it is its turn, and resolves with its result. Rejects with `deadline_exceeded` if the task takes longer than
   * `timeoutMs`, so that it does not hold up others, and with `cancelled` as soon as the signal is aborted.
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
