/** A list of whole numbers of 32 bits, kept apart from other growing arrays: building an index pushes millions. */
import { lowerBound } from '../../base/lower-bound.ts'

export class NumberList {
  #numbers = new Uint32Array(64)
  length = 0

  at(index: number): number {
    return this.#numbers[index] as number
  }

  push(value: number): void {
    if (this.length === this.#numbers.length) {
      const grown = new Uint32Array(this.length * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.length++] = value
  }

  clear(): void {
    this.length = 0
  }

  /** First index whose number is not below `value`; the list must ascend. */
  lowerBound(value: number): number {
    return lowerBound(this.length, index => this.at(index) < value)
  }

  toArray(): Uint32Array {
    return this.#numbers.slice(0, this.length)
  }
}
