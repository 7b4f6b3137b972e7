/** Hands values from one who makes them to one who takes them: each is made when the taker waits for it, none for stock. */
export class Handover<T> implements AsyncIterator<T, undefined> {
  /** Given while nobody waited: the newest alone. */
  #kept: { readonly value: T } | null = null
  #taker: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void } | null = null
  #end: { readonly error: unknown } | null = null
  #wanting: PromiseWithResolvers<void> | null = null

  /** Null: the taker waits now, or it is over. Else resolves when one of these may be so; to be asked again then. */
  wanted(): Promise<void> | null {
    if (this.#taker !== null || this.#end !== null) return null
    this.#wanting ??= Promise.withResolvers<void>()
    return this.#wanting.promise
  }

  /** To the taker who waits; else kept for the next time, in place of what was kept before. After the end: dropped. */
  give(value: T): void {
    if (this.#end !== null) return
    this.#kept = { value }
    this.#meet()
  }

  /** The taker comes to the end, or is thrown the error; what was kept is dropped. */
  end(error: unknown = null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#kept = null
    this.#meet()
    this.#tellWanted()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#taker = { resolve, reject }
      this.#meet()
      if (this.#taker !== null) this.#tellWanted()
    })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #meet(): void {
    const taker = this.#taker
    if (taker === null || (this.#kept === null && this.#end === null)) return
    this.#taker = null
    if (this.#kept !== null) {
      const { value } = this.#kept
      this.#kept = null
      taker.resolve({ done: false, value })
      return
    }
    const error = this.#end?.error ?? null
    // Told once; after that it is just over.
    this.#end = { error: null }
    if (error === null) taker.resolve({ done: true, value: undefined })
    else taker.reject(error)
  }

  #tellWanted(): void {
    this.#wanting?.resolve()
    this.#wanting = null
  }
}
