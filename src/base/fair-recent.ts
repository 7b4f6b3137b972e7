/**
 * A map that forgets, shared by many: of more than `capacity` values the one who has most of them loses the one he asked for
 * longest ago. So nobody's many push out another's few.
 */
export class FairRecent<K, V> {
  readonly #capacity: number
  /** By owner, those who asked longest ago first; of each the keys in the order of use, oldest first. */
  readonly #owners = new Map<string, Map<K, V>>()
  readonly #ownerOf = new Map<K, string>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#ownerOf.size
  }

  /** The value under this key, which counts as asked for. */
  find(key: K): V | undefined {
    const owner = this.#ownerOf.get(key)
    if (owner === undefined) return undefined
    const value = (this.#owners.get(owner) as Map<K, V>).get(key) as V
    this.set(key, owner, value)
    return value
  }

  set(key: K, owner: string, value: V): void {
    this.forget(key)
    const own = this.#owners.get(owner) ?? new Map<K, V>()
    this.#owners.delete(owner)
    this.#owners.set(owner, own.set(key, value))
    this.#ownerOf.set(key, owner)
    if (this.#ownerOf.size > this.#capacity) this.#dropOne()
  }

  forget(key: K): void {
    const owner = this.#ownerOf.get(key)
    if (owner === undefined) return
    this.#ownerOf.delete(key)
    const own = this.#owners.get(owner) as Map<K, V>
    own.delete(key)
    if (own.size === 0) this.#owners.delete(owner)
  }

  #dropOne(): void {
    let most = new Map<K, V>()
    for (const own of this.#owners.values()) if (own.size > most.size) most = own
    this.forget(most.keys().next().value as K)
  }
}
