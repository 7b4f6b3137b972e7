/** What closes the things that were opened: in reverse order, whatever fails. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Goes on when one fails, then throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closers.toReversed()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
