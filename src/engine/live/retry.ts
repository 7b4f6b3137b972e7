/** What fails is tried again after a second, two, four, at most a minute. */

const FIRST_MS = 1_000
const LAST_MS = 60_000

export class Retry {
  #failures = 0

  /** The last time, and perhaps before. */
  get hasFailed(): boolean {
    return this.#failures > 0
  }

  /** It has failed: in how many milliseconds to try again. */
  failed(): number {
    const wait = Math.min(LAST_MS, FIRST_MS * 2 ** this.#failures)
    this.#failures += 1
    return wait
  }

  worked(): void {
    this.#failures = 0
  }
}
