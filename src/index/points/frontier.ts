/** What a search has yet to look at, the most promising first: highest bound, then nearest. A heap in typed arrays. */
import { grown } from '../../base/grown.ts'

export class Frontier {
  #bounds = new Float64Array(256)
  #distances = new Float64Array(256)
  #items = new Int32Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Of the first one. */
  get bound(): number {
    return this.#bounds[0] as number
  }

  get distance(): number {
    return this.#distances[0] as number
  }

  push(bound: number, distance: number, item: number): void {
    if (this.#size === this.#items.length) this.#grow()
    let at = this.#size++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(bound, distance, parent)) break
      this.#move(parent, at)
      at = parent
    }
    this.#set(at, bound, distance, item)
  }

  /** Takes the first one away. */
  pop(): number {
    const first = this.#items[0] as number
    const last = --this.#size
    const bound = this.#bounds[last] as number
    const distance = this.#distances[last] as number
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= last) break
      if (
        child + 1 < last &&
        this.#isBefore(this.#bounds[child + 1] as number, this.#distances[child + 1] as number, child)
      )
        child++
      if (this.#isBefore(bound, distance, child)) break
      this.#move(child, at)
      at = child
    }
    this.#set(at, bound, distance, this.#items[last] as number)
    return first
  }

  #isBefore(bound: number, distance: number, other: number): boolean {
    const theirs = this.#bounds[other] as number
    return bound > theirs || (bound === theirs && distance < (this.#distances[other] as number))
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#bounds[from] as number, this.#distances[from] as number, this.#items[from] as number)
  }

  #set(at: number, bound: number, distance: number, item: number): void {
    this.#bounds[at] = bound
    this.#distances[at] = distance
    this.#items[at] = item
  }

  #grow(): void {
    const length = 2 * this.#items.length
    this.#bounds = grown(this.#bounds, length)
    this.#distances = grown(this.#distances, length)
    this.#items = grown(this.#items, length)
  }
}
