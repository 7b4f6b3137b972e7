/** Machine time moved by hand, for live queries: nothing rings until `pass` says so. */
import type { Timers } from '../../src/base/turns.ts'

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

/** Rounds of the event loop in which nobody waits for a turn before it is quiet; a query pauses for one of them every 20 ms of work. */
const QUIET_ROUNDS = 12

export class ManualTimers implements Timers {
  #now = 0
  #alarms: Alarm[] = []
  #turns = 0

  now(): number {
    return this.#now
  }

  after(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#now + ms, ring }
    this.#alarms.push(alarm)
    return () => {
      this.#alarms = this.#alarms.filter(other => other !== alarm)
    }
  }

  async turn(): Promise<void> {
    this.#turns += 1
    await round()
    this.#turns -= 1
  }

  /** Alarms that are set: none when nobody subscribes. */
  get waiting(): number {
    return this.#alarms.length
  }

  /** Lets everything go on until all of it waits for time, or for somebody else. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_ROUNDS; quiet = this.#turns === 0 ? quiet + 1 : 0) await round()
  }

  /** Rings what falls due, in order, and lets each be answered before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.settle()
    for (let next = this.#first(end); next !== undefined; next = this.#first(end)) {
      this.#now = Math.max(this.#now, next.at)
      this.#alarms = this.#alarms.filter(alarm => alarm !== next)
      next.ring()
      await this.settle()
    }
    this.#now = end
  }

  #first(end: number): Alarm | undefined {
    const due = this.#alarms.filter(({ at }) => at <= end)
    return due.sort((a, b) => a.at - b.at)[0]
  }
}

function round(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
