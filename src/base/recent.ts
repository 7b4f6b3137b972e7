/** A map that forgets: of more than `capacity` values, those that were asked for longest ago. */
export class Recent<K, V> {
  readonly #capacity: number
  /** In the order of use, oldest first. */
  readonly #values = new Map<K, V>()
  /**
   * Stands before the oldest: what it passed is gone. Asked anew for its first key, a map steps over the places of all that
   * were deleted from its beginning: 8 µs where ten thousand are kept.
   */
  #oldest = this.#values.keys()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#values.size
  }

  /** The value under this key, which counts as asked for. */
  find(key: K): V | undefined {
    const found = this.#values.get(key)
    if (found === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, found)
    return found
  }

  /** The value under this key; made and kept when there is none. */
  get(key: K, make: () => V): V {
    const found = this.#values.get(key)
    const value = found === undefined ? make() : found
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#capacity) this.#dropOldest()
    return value
  }

  /** Keeps a value, in place of one that is kept. */
  set(key: K, value: V): void {
    this.#values.delete(key)
    this.get(key, () => value)
  }

  delete(key: K): void {
    this.#values.delete(key)
  }

  /** Drops those for which this holds. */
  forget(isGone: (key: K, value: V) => boolean): void {
    for (const [key, value] of this.#values) if (isGone(key, value)) this.#values.delete(key)
  }

  clear(): void {
    this.#values.clear()
  }

  #dropOldest(): void {
    let next = this.#oldest.next()
    if (next.done) {
      this.#oldest = this.#values.keys()
      next = this.#oldest.next()
    }
    this.#values.delete(next.value as K)
  }
}
