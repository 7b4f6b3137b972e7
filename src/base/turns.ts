/** Long work in small steps: it yields to others on this thread whenever it has worked for some time (QE-019). */

/** Those who wait for their turn, first come first. */
const waiting: (() => void)[] = []

/**
 * Between pieces of long work: lets others on this thread go first, and cancellations arrive. Of all that wait, one goes on
 * in each turn of the event loop: however many work at a time, others wait for one piece of one of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(goOn)
  })
}

function goOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}

/** Milliseconds of work between two turns: no more than half of the 50 that others may have to wait, for a step takes time too. */
const WORK_MS = 20

/**
 * Work that may pause at each `yield`, which gives true when it did: what was read before may have changed. A step takes a
 * few milliseconds at most, and leaves nothing half-done that others see.
 */
export type Steps<T> = Generator<undefined, T, boolean>

/** When the work of this turn of the event loop began, as far as `Turns` know; null: there was none yet. */
let begun: number | null = null

/** Many short pieces of work that follow each other in promises are one long piece to whoever waits for the event loop. */
function beginOfTurn(): number {
  const now = performance.now()
  if (begun !== null && begun <= now) return begun
  if (begun === null) {
    setImmediate(() => {
      begun = null
    })
  }
  begun = now
  return now
}

/** The pauses of one piece of work. While all work of a turn of the event loop is shorter than `WORK_MS`, there are none. */
export class Turns {
  readonly #check: () => void
  readonly #now: () => number
  readonly #turn: () => Promise<void>
  #listener: (() => void) | null = null
  #since: number

  /** `check` throws where the work shall end: it is called after each pause. `now`: milliseconds that never go back. */
  constructor(check: () => void = () => {}, now?: () => number, turn: () => Promise<void> = nextTurn) {
    this.#check = check
    this.#now = now ?? (() => performance.now())
    this.#turn = turn
    this.#since = now === undefined ? beginOfTurn() : now()
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

/** Work counted in units, where a step for each piece would cost more than the piece: `if (pace.isOver(done)) yield`. */
export class StepPace {
  readonly #most: number
  #done = 0

  /** `most`: units of one step, a few milliseconds of work. */
  constructor(most: number) {
    this.#most = most
  }

  /** Whether with these units a step is over, and the next one begins. */
  isOver(units: number): boolean {
    this.#done += units
    if (this.#done < this.#most) return false
    this.#done = 0
    return true
  }

  /** Units until the step is over, at least 1. */
  get left(): number {
    return this.#most - this.#done
  }
}

/** Elements that are sorted, or merged, in one step: about a millisecond. */
const SORTED_AT_ONCE = 1024

/** As `[...values].sort(compare)`, in steps; `compare` must not depend on what changes at a pause. */
export function* sortInSteps<T>(values: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = []
  for (let at = 0; at < values.length; at += SORTED_AT_ONCE) {
    runs.push(values.slice(at, at + SORTED_AT_ONCE).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const [a, b] = [runs[at] as T[], runs[at + 1]]
      merged.push(b === undefined ? a : yield* mergeInSteps(a, b, compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* mergeInSteps<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    // Of those that compare equal, the first stays first.
    const isFirst = j === b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0)
    merged.push((isFirst ? a[i++] : b[j++]) as T)
    if (merged.length % SORTED_AT_ONCE === 0) yield
  }
  return merged
}

/** Steps that are shorter together than the few milliseconds which one may take count as one. */
const STEP_MS = 5

/** As many steps as one may take. True: they are done. */
export function manySteps(steps: Steps<unknown>): boolean {
  const begun = performance.now()
  for (;;) {
    if (steps.next(false).done === true) return true
    if (performance.now() - begun >= STEP_MS) return false
  }
}

/** For those who cannot wait: without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next(false)
  while (step.done !== true) step = steps.next(false)
  return step.value
}

// Machine time: when to look, ask and send. It has no part in what an answer says.

export interface Timers {
  /** Milliseconds, never backwards. */
  now(): number
  /** Calls back once, this many milliseconds from now; returns what prevents it. */
  after(ms: number, callback: () => void): () => void
  /** Resolves when everything else that waits has had its turn. */
  turn(): Promise<void>
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  turn: nextTurn,
}

/** Resolves after so many milliseconds, or as soon as the signal comes. `unref`: keeps no process up. */
export function pause(ms: number, signal: AbortSignal, { unref = false } = {}): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (unref) timer.unref()
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
