/** Runs long work in small steps: it yields to other tasks on this thread whenever it has run for some time (QE-019). */

/** Queue of callbacks that wait to continue their work, first in, first out. */
const waiting: (() => void)[] = []

/**
 * Called between pieces of long work: other tasks on this thread run first, and cancellations arrive. Only one of all waiting pieces
 * continues in each turn of the event loop, so other tasks never wait for more than one piece of work.
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

/**
 * Milliseconds that work may run before it must yield: less than half of the 50 ms that other tasks may have to wait, because one step also
 * takes time.
 */
const WORK_MS = 20

/**
 * Work as a generator that may be paused at each `yield`. `yield` returns true if the work was paused: data read before may then have
 * changed. A step takes at most a few milliseconds, and leaves no half-done state that other code can see.
 */
export type Steps<T> = Generator<undefined, T, boolean>

/** When the work of this turn of the event loop began, as far as `Turns` knows; null: no work has begun in this turn. */
let begun: number | null = null

/**
 * Start time that all pieces of work in this turn of the event loop share: many short pieces, chained by promises, block the event loop
 * like one long piece.
 */
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

/** Decides when a piece of long work pauses: never while all work in one turn of the event loop takes less than `WORK_MS`. */
export class Turns {
  readonly #check: () => void
  readonly #now: () => number
  readonly #turn: () => Promise<void>
  #listener: (() => void) | null = null
  #since: number

  /** `check` is called after each pause and throws if the work must end. `now`: monotonic time in milliseconds. */
  constructor(check: () => void = () => {}, now?: () => number, turn: () => Promise<void> = nextTurn) {
    this.#check = check
    this.#now = now ?? (() => performance.now())
    this.#turn = turn
    this.#since = now === undefined ? beginOfTurn() : now()
  }

  /**
   * Registers a callback that is called once, just before the next pause: the last moment at which no other task can have changed anything.
   * Replaces the callback registered before.
   */
  beforeNext(listener: () => void): void {
    this.#listener = listener
  }

  /** Runs the steps to the end, with pauses. Rejects with the error that the work or `check` throws. */
  async run<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next(false)
    while (step.done !== true) step = steps.next(this.#isDue && (await this.#pause()))
    return step.value
  }

  /** Pauses if the work has run long enough; call it between two pieces of work. Returns whether it paused. */
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

/** Counts work in units, for work whose pieces are too small to be one step each: `if (pace.isOver(done)) yield`. */
export class StepPace {
  readonly #most: number
  #done = 0

  /** `most`: number of units in one step, equal to a few milliseconds of work. */
  constructor(most: number) {
    this.#most = most
  }

  /** Counts these units; returns true, and starts a new step, when the current step is full. */
  isOver(units: number): boolean {
    this.#done += units
    if (this.#done < this.#most) return false
    this.#done = 0
    return true
  }

  /** Units left until the current step is full, at least 1. */
  get left(): number {
    return this.#most - this.#done
  }
}

/** Elements that are sorted or merged in one step, which takes about a millisecond. */
const SORTED_AT_ONCE = 1024

/** Sorts like `[...values].sort(compare)`, in steps. `compare` must not depend on data that may change during a pause. */
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
    // A stable merge: of equal elements, the one from the first list comes first.
    const isFirst = j === b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0)
    merged.push((isFirst ? a[i++] : b[j++]) as T)
    if (merged.length % SORTED_AT_ONCE === 0) yield
  }
  return merged
}

/** Milliseconds of short steps that are grouped into one step. */
const STEP_MS = 5

/** Runs steps for `STEP_MS` milliseconds. Returns true when all steps are done. */
export function manySteps(steps: Steps<unknown>): boolean {
  const begun = performance.now()
  for (;;) {
    if (steps.next(false).done === true) return true
    if (performance.now() - begun >= STEP_MS) return false
  }
}

/** Runs all steps at once, without a pause, for callers that cannot wait. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next(false)
  while (step.done !== true) step = steps.next(false)
  return step.value
}

// Timers of the machine, for scheduling: when to look, ask and send. The content of an answer never depends on this time.

export interface Timers {
  /** Monotonic time in milliseconds. */
  now(): number
  /** Calls back once, after this many milliseconds; returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void
  /** Resolves in a later turn of the event loop, after other waiting tasks have run. */
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

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. `unref`: the timer does not keep the process alive. */
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
