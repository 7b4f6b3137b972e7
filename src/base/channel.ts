/** Passes values from a writer to a reader: each is made when the reader waits for it, none in advance. */
export class Channel<T> implements AsyncIterator<T, undefined> {
  /** Given while nobody waited: the newest alone. */
  #kept: { readonly value: T } | null = null
  #reader: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null
  #wanting: PromiseWithResolvers<void> | null = null

  /** Null: the reader waits now, or it is over. Else resolves when one of these may be so; to be asked again then. */
  wanted(): Promise<void> | null {
    if (this.#reader !== null || this.#end !== null) return null
    this.#wanting ??= Promise.withResolvers<void>()
    return this.#wanting.promise
  }

  /** To the waiting reader; else kept for the next time, in place of what was kept before. After the end: dropped. */
  give(value: T): void {
    if (this.#end !== null) return
    this.#kept = { value }
    this.#meet()
  }

  /** The reader comes to the end, or is thrown the error; what was kept is dropped. */
  end(error: unknown = null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#kept = null
    this.#meet()
    this.#notifyWanted()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#meet()
      if (this.#reader !== null) this.#notifyWanted()
    })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #meet(): void {
    const reader = this.#reader
    if (reader === null || (this.#kept === null && this.#end === null)) return
    this.#reader = null
    if (this.#kept !== null) {
      const { value } = this.#kept
      this.#kept = null
      reader.resolve({ done: false, value })
      return
    }
    const error = this.#end?.error ?? null
    // Reported once; after that it is just over.
    this.#end = { error: null }
    if (error === null) reader.resolve({ done: true, value: undefined })
    else reader.reject(error)
  }

  #notifyWanted(): void {
    this.#wanting?.resolve()
    this.#wanting = null
  }
}
