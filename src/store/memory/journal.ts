/** Maps that can be put back: what makes the in-memory store transactional. */

/** What to do to undo the changes made since it was last emptied, newest last. */
export class Journal {
  readonly #undo: (() => void)[] = []

  record(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** A place to roll back to. */
  mark(): number {
    return this.#undo.length
  }

  rollBack(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()?.()
  }

  /** Makes everything so far final. */
  forget(): void {
    this.#undo.length = 0
  }
}

/** A map whose changes are recorded. Its order of iteration means nothing: undoing a delete moves a key to the end. */
export class JournaledMap<K, V> {
  readonly #map = new Map<K, V>()
  readonly #journal: Journal

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get size(): number {
    return this.#map.size
  }

  get(key: K): V | undefined {
    return this.#map.get(key)
  }

  has(key: K): boolean {
    return this.#map.has(key)
  }

  keys(): readonly K[] {
    return [...this.#map.keys()]
  }

  values(): readonly V[] {
    return [...this.#map.values()]
  }

  set(key: K, value: V): void {
    this.#recordUndo(key)
    this.#map.set(key, value)
  }

  delete(key: K): void {
    if (!this.#map.has(key)) return
    this.#recordUndo(key)
    this.#map.delete(key)
  }

  /** Takes over what `other` holds. Not recorded: for a map that nobody has read yet. */
  fill(other: JournaledMap<K, V>): void {
    for (const [key, value] of other.#map) this.#map.set(key, value)
  }

  #recordUndo(key: K): void {
    if (!this.#map.has(key)) {
      this.#journal.record(() => this.#map.delete(key))
      return
    }
    const before = this.#map.get(key) as V
    this.#journal.record(() => this.#map.set(key, before))
  }
}
