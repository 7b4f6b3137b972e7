/**
 * Limit of a cache by the sizes of its values: their sum may be at most `max`. `of` returns the size of one value, which must not change.
 */
interface Sizes<V> {
  readonly max: number
  of(value: V): number
}

/**
 * A least-recently-used cache: beyond `capacity` values, or beyond the total size that `sizes` allows, it drops the values that were not
 * asked for longest.
 */
export class Recent<K, V> {
  readonly #capacity: number
  readonly #sizes: Sizes<V> | undefined
  #sum = 0
  readonly #places = new Map<K, Place<K, V>>()
  /**
   * Least and most recently used place, the two ends of a linked list in order of use. Deleting and re-inserting a key in a `Map` would
   * give the same order, but takes three times as long as a whole lookup when the cache holds thousands of values.
   */
  #oldest: Place<K, V> | null = null
  #newest: Place<K, V> | null = null

  constructor(capacity: number, sizes?: Sizes<V>) {
    this.#capacity = capacity
    this.#sizes = sizes
  }

  get size(): number {
    return this.#places.size
  }

  /** The value under this key, which now counts as the most recently used. */
  find(key: K): V | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    this.#renew(place)
    return place.value
  }

  /** The value under this key; if the cache has none, `make` computes the value and the cache keeps it. */
  get(key: K, make: () => V): V {
    const place = this.#places.get(key)
    if (place !== undefined) {
      this.#renew(place)
      return place.value
    }
    const value = make()
    this.set(key, value)
    return value
  }

  /** Stores a value under the key and replaces an older one. */
  set(key: K, value: V): void {
    const known = this.#places.get(key)
    if (known !== undefined) {
      this.#sum -= this.#sizeOf(known)
      known.value = value
      this.#sum += this.#sizeOf(known)
      this.#renew(known)
    } else {
      const place: Place<K, V> = { key, value, older: null, newer: null }
      this.#places.set(key, place)
      this.#sum += this.#sizeOf(place)
      this.#append(place)
    }
    while (this.#isFull() && this.#oldest !== null) this.#drop(this.#oldest)
  }

  delete(key: K): void {
    const place = this.#places.get(key)
    if (place !== undefined) this.#drop(place)
  }

  entries(): readonly (readonly [K, V])[] {
    return [...this.#places.values()].map(({ key, value }) => [key, value])
  }

  /** Drops all entries for which `isGone` returns true. */
  forget(isGone: (key: K, value: V) => boolean): void {
    for (const place of this.#places.values()) if (isGone(place.key, place.value)) this.#drop(place)
  }

  clear(): void {
    this.#places.clear()
    this.#sum = 0
    this.#oldest = null
    this.#newest = null
  }

  #isFull(): boolean {
    return this.#places.size > this.#capacity || (this.#sizes !== undefined && this.#sum > this.#sizes.max)
  }

  #sizeOf({ value }: Place<K, V>): number {
    return this.#sizes?.of(value) ?? 0
  }

  #renew(place: Place<K, V>): void {
    if (place === this.#newest) return
    this.#cutOut(place)
    this.#append(place)
  }

  #drop(place: Place<K, V>): void {
    this.#places.delete(place.key)
    this.#sum -= this.#sizeOf(place)
    this.#cutOut(place)
    // Unlink the neighbours: a reference from a dropped list node would keep the nodes after it in memory until the next major garbage
    // collection.
    place.older = null
    place.newer = null
  }

  #append(place: Place<K, V>): void {
    place.older = this.#newest
    place.newer = null
    if (this.#newest === null) this.#oldest = place
    else this.#newest.newer = place
    this.#newest = place
  }

  #cutOut({ older, newer }: Place<K, V>): void {
    if (older === null) this.#oldest = newer
    else older.newer = newer
    if (newer === null) this.#newest = older
    else newer.older = older
  }
}

interface Place<K, V> {
  readonly key: K
  value: V
  older: Place<K, V> | null
  newer: Place<K, V> | null
}

/**
 * Returns a function that computes `make(key)` once for each key object and caches the result as long as the object exists (in a
 * `WeakMap`).
 */
export function onePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>()
  return key => {
    const known = made.get(key) ?? { value: make(key) }
    made.set(key, known)
    return known.value
  }
}
