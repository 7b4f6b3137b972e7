/** Hands values from one who makes them to one who takes them, one at a time: nothing is made before the last was taken. */
export class Handover<T> implements AsyncIterator<T, undefined> {
  #offer: { readonly value: T; readonly taken: () => void } | null = null
  /** Handed over; taken for good when the next is asked for. */
  #last: (() => void) | null = null
  #taker: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null

  /** Resolves when the next is wanted, or none is wanted any more. One at a time. */
  give(value: T): Promise<void> {
    if (this.#end !== null) return Promise.resolve()
    return new Promise(taken => {
      this.#offer = { value, taken }
      this.#meet()
    })
  }

  /** The taker comes to the end, or is thrown the error; what was offered and not taken is dropped. */
  end(error: unknown = null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#offer?.taken()
    this.#offer = null
    this.#last?.()
    this.#last = null
    this.#meet()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#last?.()
    this.#last = null
    return new Promise((resolve, reject) => {
      this.#taker = { resolve, reject }
      this.#meet()
    })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #meet(): void {
    const taker = this.#taker
    if (taker === null || (this.#offer === null && this.#end === null)) return
    this.#taker = null
    if (this.#offer !== null) {
      const { value, taken } = this.#offer
      this.#offer = null
      this.#last = taken
      taker.resolve({ done: false, value })
      return
    }
    const error = this.#end?.error ?? null
    // Told once; after that it is just over.
    this.#end = { error: null }
    if (error === null) taker.resolve({ done: true, value: undefined })
    else taker.reject(error)
  }
}
