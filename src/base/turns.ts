/** Runs long work in small steps: it yields to other tasks on this thread whenever it has run for some time (QE-019). */

/** Queue of the paused pieces of long work that wait for the event loop to let them continue; first in, first out. */
const waiting: (() => void)[] = []

/**
 * Milliseconds that work may run before it must yield: less than half of the 50 ms that other tasks may have to wait, because one step also
 * takes time.
 */
const WORK_MS = 20

/** Time at which the first waiting piece of work continued in the current turn of the event loop; null: none has yet. */
let continued: number | null = null

/**
 * Waits for the next turn of the event loop, to be called between pieces of long work: other tasks on this thread run meanwhile, and
 * cancellations arrive. In each turn at least one of all waiting pieces continues, and more until they have run for `WORK_MS` together: with
 * only one, work that has just begun would overtake the waiting pieces again and again.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    setImmediate(goOn)
  })
}

/** Called once for each waiting piece, by the event loop one after the other, with the work of each call done before the next call. */
function goOn(): void {
  const now = performance.now()
  if (continued === null) {
    continued = now
    // This runs before all pieces of the next turn, because they are scheduled later.
    setImmediate(() => {
      continued = null
    })
  } else if (now - continued >= WORK_MS) {
    setImmediate(goOn)
    return
  }
  waiting.shift()?.()
}

/**
 * Long work written as a generator, which its caller may pause at each `yield`. The `yield` expression has the value true if there was a
 * pause, during which other code may have changed data. The work between two yields takes at most a few milliseconds and leaves no
 * half-done state that other code can see.
 */
export type Steps<T> = Generator<undefined, T, boolean>

/** Monotonic time in milliseconds at which long work first ran in the current turn of the event loop; null: none has run yet. */
let begun: number | null = null

/**
 * Start time shared by all long work in the current turn of the event loop. It is shared because many short pieces of work, chained by
 * promises, block the event loop like one long piece.
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

/**
 * Runs long work and decides when it pauses: as soon as the work done in the current turn of the event loop has taken `WORK_MS`
 * milliseconds.
 */
export class Turns {
  readonly #check: () => void
  readonly #now: () => number
  /** Time from which the work that continues after a pause is counted. */
  readonly #begin: () => number
  readonly #turn: () => Promise<void>
  #listener: (() => void) | null = null
  #since: number

  /**
   * `check` is called after each pause and throws an error if the work must end, for example because it was cancelled. `now`: monotonic
   * time in milliseconds.
   */
  constructor(check: () => void = () => {}, now?: () => number, turn: () => Promise<void> = nextTurn) {
    this.#check = check
    this.#now = now ?? (() => performance.now())
    this.#begin = now ?? (() => continued ?? performance.now())
    this.#turn = turn
    this.#since = now === undefined ? beginOfTurn() : now()
  }

  /**
   * Registers a callback that is called once, just before the next pause of the work: the last moment before other tasks can change data.
   * Replaces the callback registered before.
   */
  beforeNext(listener: () => void): void {
    this.#listener = listener
  }

  /**
   * Runs a generator of long work to its end, and pauses at a `yield` when the work has run long enough, so that other tasks can run.
   * Rejects with the error that the work or `check` throws.
   */
  async run<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next(false)
    while (step.done !== true) step = steps.next(this.#isDue && (await this.#pause()))
    return step.value
  }

  /**
   * Pauses if the work in this turn of the event loop has run for `WORK_MS` milliseconds, so that other tasks can run. Call it between two
   * pieces of work. Returns whether there was a pause.
   */
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
    this.#since = this.#begin()
    this.#check()
    return true
  }
}

/**
 * Counts small units of work (such as rows) so that a generator yields once per some thousand units instead of after each: `if
 * (pace.isOver(done)) yield`.
 */
export class StepPace {
  readonly #most: number
  #done = 0

  /** `most`: number of units of work between two yields, chosen to take a few milliseconds. */
  constructor(most: number) {
    this.#most = most
  }

  /** Counts `done` further units of work; returns true, and begins counting from 0, when it is time to yield. */
  isOver(units: number): boolean {
    this.#done += units
    if (this.#done < this.#most) return false
    this.#done = 0
    return true
  }

  /** Number of units of work left before the next yield is due, at least 1. */
  get left(): number {
    return this.#most - this.#done
  }
}

/** Number of elements that are sorted or merged between two possible pauses, which takes about a millisecond. */
const SORTED_AT_ONCE = 1024

/**
 * Sorts a copy like `[...values].sort(compare)`, as a generator that may be paused at each `yield`. `compare` must not depend on data that
 * may change during a pause.
 */
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
    // Merges two sorted lists; of equal elements, the one from the first list comes first.
    const isFirst = j === b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0)
    merged.push((isFirst ? a[i++] : b[j++]) as T)
    if (merged.length % SORTED_AT_ONCE === 0) yield
  }
  return merged
}

/** Milliseconds for which short pieces of work run together between two possible pauses. */
const STEP_MS = 5

/** Advances a generator of long work for about `STEP_MS` milliseconds. Returns true when the generator has ended. */
export function manySteps(steps: Steps<unknown>): boolean {
  const begun = performance.now()
  for (;;) {
    if (steps.next(false).done === true) return true
    if (performance.now() - begun >= STEP_MS) return false
  }
}

/** Runs a generator of long work to its end without a pause and returns its result, for callers that cannot wait asynchronously. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next(false)
  while (step.done !== true) step = steps.next(false)
  return step.value
}

// The monotonic clock and the timers of the machine. They only decide when background checks, requests and events happen; the content of an
// answer never depends on this time.

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

/**
 * Waits `ms` milliseconds, or until the signal is aborted; resolves in both cases. `unref`: the waiting does not keep the process alive.
 */
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
