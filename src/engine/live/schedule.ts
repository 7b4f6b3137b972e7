/** When live queries are asked, and when their events are sent. */
import type { Timers } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'

/** What falls on a point of the grid waits for the next: so a point has passed for all that it reports. */
const SOONEST_MS = 0.001

/** One alarm on a fixed grid of time: whatever it is set for, it rings at a point of the grid, so its hours reveal nothing. */
export class GridAlarm {
  readonly #timers: Timers
  readonly #start: number
  readonly #stepMs: number
  readonly #ring: () => void
  #set: { readonly at: number; readonly stop: () => void } | null = null

  /** The grid begins now. A step of 0: every moment is a point of it. */
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

  /** For the first point that is not before this, unless it is set for an earlier one. */
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

/** A query keeps its time itself, and knows best how it failed: one that does not is given up this much later. */
const GRACE_MS = 500

/** Asks one query at a time, in the order in which they fell due, and lets everything else run between them. */
export class Scheduler {
  readonly #timers: Timers
  #last: Promise<unknown> = Promise.resolve()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * What the task comes to, when it had its turn. Rejects with `deadline_exceeded` when it takes longer than `timeoutMs` from
   * then, so that it holds up nobody else, and with `cancelled` at once when the signal comes.
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
