/** Which declared tables were written, so that who keeps something made of one table outlives writes to the others. */
export class TableVersions {
  #counter = 0
  /** Of tables that this store has not written since others did. */
  #others = 0
  readonly #own = new Map<string, number>()
  readonly #open = new Set<string>()

  /** A transaction begins. */
  begin(): void {
    this.#open.clear()
  }

  wrote(table: string): void {
    this.#open.add(table)
  }

  /** It was committed. */
  commit(): void {
    for (const table of this.#open) this.#own.set(table, ++this.#counter)
  }

  /** Others wrote: who knows what. */
  moved(): void {
    this.#others = ++this.#counter
    this.#own.clear()
  }

  of(table: string): number {
    return this.#own.get(table) ?? this.#others
  }
}
