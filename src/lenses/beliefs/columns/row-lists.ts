/** Rows with the same number (id, content) in doubly linked lists of typed arrays: no object a belief. */
import { grown } from './grown.ts'

const GROWTH = 1.5

export class RowLists {
  /** By number: the row that came last; -1: none. */
  #heads: Int32Array = new Int32Array(64).fill(-1)
  #next: Int32Array
  #before: Int32Array

  constructor(capacity: number) {
    this.#next = new Int32Array(capacity).fill(-1)
    this.#before = new Int32Array(capacity).fill(-1)
  }

  get byteLength(): number {
    return this.#heads.byteLength + this.#next.byteLength + this.#before.byteLength
  }

  /** -1: no row has this number. */
  first(number: number): number {
    return this.#heads[number] ?? -1
  }

  /** The row behind this one in its list, or -1. */
  next(row: number): number {
    return this.#next[row] as number
  }

  add(number: number, row: number): void {
    if (number >= this.#heads.length) this.#heads = grown(this.#heads, Math.ceil((number + 1) * GROWTH))
    const head = this.#heads[number] as number
    this.#next[row] = head
    this.#before[row] = -1
    if (head !== -1) this.#before[head] = row
    this.#heads[number] = row
  }

  remove(number: number, row: number): void {
    const next = this.#next[row] as number
    const before = this.#before[row] as number
    if (before === -1) this.#heads[number] = next
    else this.#next[before] = next
    if (next !== -1) this.#before[next] = before
  }

  /** Room for so many rows. */
  grow(capacity: number): void {
    this.#next = grown(this.#next, capacity)
    this.#before = grown(this.#before, capacity)
  }
}
