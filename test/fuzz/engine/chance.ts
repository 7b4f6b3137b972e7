/** Seeded choices. The same seed makes the same inputs in every run. */
import { seededUniform } from '../../support/seeded.ts'

export class Chance {
  readonly #uniform: () => number

  constructor(seed: number) {
    this.#uniform = seededUniform(seed)
  }

  /** 0 to `end - 1`. */
  below(end: number): number {
    return Math.floor(this.#uniform() * end)
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('nothing to pick from')
    return from[this.below(from.length)] as T
  }

  /** 1 to `end`, small ones far more often than large ones. */
  size(end: number): number {
    return Math.max(1, Math.ceil(end ** this.#uniform()))
  }
}
