/** A stream that takes a place for as long as it goes on. */

/** `free`: gives the place back, once it ends, fails, or is left; a signal that is aborted ends it too. */
export function counted<T>(
  open: () => AsyncIterable<T>,
  signal: AbortSignal,
  free: () => void,
): AsyncIterableIterator<T> {
  try {
    return new Counted(open()[Symbol.asyncIterator](), signal, free)
  } catch (thrown) {
    free()
    throw thrown
  }
}

class Counted<T> implements AsyncIterableIterator<T> {
  readonly #pieces: AsyncIterator<T>
  readonly #signal: AbortSignal
  readonly #free: () => void

  constructor(pieces: AsyncIterator<T>, signal: AbortSignal, free: () => void) {
    this.#pieces = pieces
    this.#signal = signal
    this.#free = free
    signal.addEventListener('abort', this.#end, { once: true })
    if (signal.aborted) this.#end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T>> {
    try {
      const result = await this.#pieces.next()
      if (result.done === true) this.#end()
      return result
    } catch (thrown) {
      this.#end()
      throw thrown
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#end()
    return (await this.#pieces.return?.()) ?? { done: true, value: undefined }
  }

  readonly #end = (): void => {
    this.#signal.removeEventListener('abort', this.#end)
    this.#free()
  }
}
