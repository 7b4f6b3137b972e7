/** Gives one who hears nothing for long a fresh token now and then: none that he has is old when his connection is lost. */
import type { Timers } from './timers.ts'

export const TOKEN_REFRESH_MS = 60_000
/** After all that is to be told at once. */
const SOON_MS = 1

export interface Taker {
  /** Null: he would take one at once; else resolves when that may be so. */
  wanted(): Promise<void> | null
  /** Whether nothing is on its way to him, which would bring a token. */
  isIdle(): boolean
  /** Makes one and hands it over. */
  give(): void
}

export class TokenRefresh {
  readonly #timers: Timers
  readonly #taker: Taker
  /** When he was told the last one. */
  #at: number
  #isOver = false
  /** For him to take one. */
  #isWaiting = false
  #cancel = (): void => {}

  constructor(timers: Timers, taker: Taker) {
    this.#timers = timers
    this.#taker = taker
    this.#at = timers.now()
    this.#later()
  }

  /** He has just been told one. */
  told(): void {
    this.#at = this.#timers.now()
  }

  /** One at once, if nothing else brings it first. */
  soon(): void {
    if (this.#isOver) return
    this.#at = Number.NEGATIVE_INFINITY
    if (this.#isWaiting) return
    this.#cancel()
    this.#cancel = this.#timers.after(SOON_MS, () => void this.#refresh())
  }

  stop(): void {
    this.#isOver = true
    this.#cancel()
  }

  #later(): void {
    const left = this.#at + TOKEN_REFRESH_MS - this.#timers.now()
    this.#cancel = this.#timers.after(left > 0 ? left : TOKEN_REFRESH_MS, () => void this.#refresh())
  }

  async #refresh(): Promise<void> {
    const taker = this.#taker
    this.#isWaiting = true
    for (let wait = taker.wanted(); wait !== null && taker.isIdle(); wait = taker.wanted()) await wait
    this.#isWaiting = false
    if (this.#isOver) return
    if (taker.isIdle() && this.#timers.now() >= this.#at + TOKEN_REFRESH_MS) {
      this.told()
      taker.give()
    }
    if (!this.#isOver) this.#later()
  }
}
