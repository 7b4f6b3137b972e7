/** Long work in small steps: it yields to others on this thread whenever it has worked for some time (QE-019). */
import { nextTurn } from './next-turn.ts'

/** Milliseconds of work between two turns: no more than half of the 50 that others may have to wait, for a step takes time too. */
const WORK_MS = 20

/**
 * Work that may pause at each `yield`, which gives true when it did: what was read before may have changed. A step takes a
 * few milliseconds at most, and leaves nothing half-done that others see.
 */
export type Steps<T> = Generator<undefined, T, boolean>

/** The pauses of one piece of work. Work that is shorter than `WORK_MS` has none. */
export class Turns {
  readonly #check: () => void
  readonly #now: () => number
  readonly #turn: () => Promise<void>
  #listener: (() => void) | null = null
  #since: number

  /** `check` throws where the work shall end: it is called after each pause. `now`: milliseconds that never go back. */
  constructor(
    check: () => void = () => {},
    now: () => number = () => performance.now(),
    turn: () => Promise<void> = nextTurn,
  ) {
    this.#check = check
    this.#now = now
    this.#turn = turn
    this.#since = now()
  }

  /** Called once, before the next pause: the last moment at which all is as it was. Replaces the one given before. */
  beforeNext(listener: () => void): void {
    this.#listener = listener
  }

  /** Rejects with what the work or `check` throws. */
  async run<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next(false)
    while (step.done !== true) step = steps.next(this.#isDue && (await this.#pause()))
    return step.value
  }

  /** Between two pieces of work. True: it paused. */
  async pauseIfDue(): Promise<boolean> {
    return this.#isDue && this.#pause()
  }

  get #isDue(): boolean {
    return this.#now() - this.#since >= WORK_MS
  }

  async #pause(): Promise<true> {
    const listener = this.#listener
    this.#listener = null
    listener?.()
    await this.#turn()
    this.#since = this.#now()
    this.#check()
    return true
  }
}

/** For those who cannot wait: without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next(false)
  while (step.done !== true) step = steps.next(false)
  return step.value
}
