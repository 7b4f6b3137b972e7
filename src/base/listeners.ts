/** Those who want to be told of something, in the order in which they came. They must not throw. */
export class Listeners {
  readonly #listeners = new Set<() => void>()

  /** Returns what ends it. */
  add(listener: () => void): () => void {
    // A function of its own, so that one who comes twice is told twice.
    const own = () => listener()
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
