/** What the values take together, at most `max`. `of`: what one takes, always the same for it. */
interface Sizes<V> {
  readonly max: number
  of(value: V): number
}

/** A map that forgets: of more than `capacity` values, or of more than `sizes` allows, those that were asked for longest ago. */
export class Recent<K, V> {
  readonly #capacity: number
  readonly #sizes: Sizes<V> | undefined
  #sum = 0
  readonly #places = new Map<K, Place<K, V>>()
  /**
   * The ends of the order of use. A map has an order as well, but moving a key to its end takes three times as long as all of
   * `find` does here, where thousands are kept.
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

  /** The value under this key, which counts as asked for. */
  find(key: K): V | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    this.#renew(place)
    return place.value
  }

  /** The value under this key; made and kept when there is none. */
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

  /** Keeps a value, in place of one that is kept. */
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

  /** Drops those for which this holds. */
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
    // An old place would keep what came after it from being freed until the next collection of all memory.
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

/** What `make` gives for an object, made when it is first asked for and kept for as long as the object is. */
export function onePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>()
  return key => {
    const known = made.get(key) ?? { value: make(key) }
    made.set(key, known)
    return known.value
  }
}
