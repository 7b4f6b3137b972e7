/**
 * Keeps the k best elements of a stream in a bounded heap: O(n log k) time, O(k) memory. The order must be total (compare ids last), or the
 * result would depend on the order of arrival.
 */
export class TopK<T> {
  readonly #k: number
  readonly #compare: (a: T, b: T) => number
  /** Binary heap with the worst kept item at its root. */
  readonly #heap: T[] = []

  /**
   * `compare` returns a negative number if its first argument is the better of the two, like the comparator of `Array.prototype.sort` for a
   * list with the best first.
   */
  constructor(k: number, compare: (a: T, b: T) => number) {
    this.#k = k
    this.#compare = compare
  }

  get full(): boolean {
    return this.#heap.length >= this.#k
  }

  /** The worst element that the heap keeps at present. */
  get worst(): T | undefined {
    return this.#heap[0]
  }

  push(item: T): void {
    const heap = this.#heap
    if (heap.length < this.#k) {
      heap.push(item)
      this.#rise(heap.length - 1)
    } else if (this.#k > 0 && this.#compare(item, heap[0] as T) < 0) {
      heap[0] = item
      this.#sink()
    }
  }

  /** The kept elements, sorted best first. */
  sorted(): T[] {
    return [...this.#heap].sort(this.#compare)
  }

  #rise(from: number): void {
    const heap = this.#heap
    let child = from
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (this.#compare(heap[child] as T, heap[parent] as T) <= 0) return
      this.#swap(child, parent)
      child = parent
    }
  }

  #sink(): void {
    const heap = this.#heap
    let parent = 0
    for (;;) {
      let worst = parent
      for (let child = 2 * parent + 1; child <= 2 * parent + 2 && child < heap.length; child++) {
        if (this.#compare(heap[child] as T, heap[worst] as T) > 0) worst = child
      }
      if (worst === parent) return
      this.#swap(parent, worst)
      parent = worst
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const held = heap[a] as T
    heap[a] = heap[b] as T
    heap[b] = held
  }
}
