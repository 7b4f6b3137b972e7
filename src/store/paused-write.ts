/** A write that is in its transaction and pauses. */
import type { Steps } from '../base/turns.ts'

type End<T> = { readonly value: T } | { readonly error: unknown }

export class PausedWrite<T> {
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
