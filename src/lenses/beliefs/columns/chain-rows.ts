/** Where beliefs with a past stand, by holder and chain: whether a past may be seen is known without reading it (BQ-194). */
export class ChainRows {
  readonly #rows = new Map<string, number>()
  readonly #names = new Map<number, string>()

  /** -1: the chain has no past, or its belief is gone. */
  of(holder: string, chain: string): number {
    return this.#rows.get(nameOf(holder, chain)) ?? -1
  }

  add(row: number, holder: string, chain: string): void {
    const name = nameOf(holder, chain)
    this.#rows.set(name, row)
    this.#names.set(row, name)
  }

  remove(row: number): void {
    const name = this.#names.get(row)
    if (name === undefined) return
    this.#names.delete(row)
    this.#rows.delete(name)
  }

  clear(): void {
    this.#rows.clear()
    this.#names.clear()
  }
}

function nameOf(holder: string, chain: string): string {
  return `${chain.length} ${chain}${holder}`
}
