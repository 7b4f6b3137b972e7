/** What trust was weighed from: two with equal stamps differ only by the time that has passed between them. */
export class TrustStamp {
  readonly #parts: readonly unknown[]

  /** Things that are replaced when they change, and counts of changes. */
  constructor(parts: readonly unknown[]) {
    this.#parts = parts
  }

  equals(other: TrustStamp): boolean {
    return this.#parts.length === other.#parts.length && this.#parts.every((part, at) => part === other.#parts[at])
  }
}
