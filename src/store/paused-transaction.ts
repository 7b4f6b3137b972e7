/** Bodies of transactions: synchronous ones, and those that pause within their transaction. */
import type { Steps } from '../base/turns.ts'

type End<T> = { readonly value: T } | { readonly error: unknown }

export class PausedTransaction<T> {
  readonly #steps: Steps<T>
  #end: End<T> | null = null

  /** `steps`: the whole transaction; they have begun when it has. */
  constructor(steps: Steps<T>) {
    this.#steps = steps
  }

  /** For `Turns`. Throws what the transaction failed with, also where `complete` or `cancel` met it. */
  *run(): Steps<T> {
    for (;;) {
      const end = this.#end ?? this.#step()
      if (end !== null && 'error' in end) throw end.error
      if (end !== null) return end.value
      yield
    }
  }

  /** Runs what is left without a pause. */
  complete(): void {
    while (this.#end === null) this.#step()
  }

  /** Rolls it back, unless it is over. */
  cancel(error: unknown): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#steps.return(undefined as never)
  }

  #step(): End<T> | null {
    try {
      const step = this.#steps.next(true)
      if (step.done === true) this.#end = { value: step.value }
    } catch (error) {
      this.#end = { error }
    }
    return this.#end
  }
}

/** A transaction ends when its body returns, so a body that goes on later would work outside it. */
export function assertSync<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('invariant broken: the body of a transaction must be synchronous')
  return result
}

/** A body that does not pause, as one that may. */
// biome-ignore lint/correctness/useYield: it is the one step
export function* inOneStep<T>(body: () => T): Steps<T> {
  return assertSync(body())
}
