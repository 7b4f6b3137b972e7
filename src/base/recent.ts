/** A map that forgets: of more than `capacity` values, those that were asked for longest ago. */
export class Recent<K, V> {
  readonly #capacity: number
  /** In the order of use, oldest first. */
  readonly #values = new Map<K, V>()
  /**
   * Stands before the oldest: what it passed is gone. Asked anew for its first key, a map steps over the places of all that
   * were deleted from its beginning: 8 µs where ten thousand are kept. Null: to be asked for anew. While it stands still, all
   * that was in the map since stays in memory, also what was replaced; so it is let go after a while.
   */
  #oldest: MapIterator<K> | null = null
  /** Since it last moved. */
  #changes = 0

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
    this.#renew(key, found)
    return found
  }

  /** The value under this key; made and kept when there is none. */
  get(key: K, make: () => V): V {
    const found = this.#values.get(key)
    const value = found === undefined ? make() : found
    this.#renew(key, value)
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

  #renew(key: K, value: V): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (++this.#changes <= this.#capacity) return
    this.#oldest = null
    this.#changes = 0
  }

  #dropOldest(): void {
    this.#oldest ??= this.#values.keys()
    let next = this.#oldest.next()
    if (next.done) {
      this.#oldest = this.#values.keys()
      next = this.#oldest.next()
    }
    this.#changes = 0
    this.#values.delete(next.value as K)
  }
}
