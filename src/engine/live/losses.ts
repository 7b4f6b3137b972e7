/**
 * Looks up what the viewer may no longer see of what was told or is about to be. Where that cannot be looked up nothing is
 * known to be lost, and nothing more may be shown until it can.
 */
import type { LiveItem, StandingQuestion } from '../../model/live.ts'
import { Retry } from './retry.ts'
import type { Timers } from './timers.ts'

export class Losses {
  readonly #question: Pick<StandingQuestion, 'lost'>
  readonly #timers: Timers
  readonly #failed: (error: unknown) => void
  readonly #retry = new Retry()
  /** Null: it could be looked up the last time. */
  #blindUntil: number | null = null

  /** `failed` hears why something cannot be looked up. */
  constructor(question: Pick<StandingQuestion, 'lost'>, timers: Timers, failed: (error: unknown) => void) {
    this.#question = question
    this.#timers = timers
    this.#failed = failed
  }

  get isBlind(): boolean {
    return this.#blindUntil !== null
  }

  /** It is blind, and some time has passed since it looked. */
  get isToLookAgain(): boolean {
    return this.#blindUntil !== null && this.#timers.now() >= this.#blindUntil
  }

  /** Keys of those that are lost; null: it cannot be looked up. */
  of(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] | null {
    try {
      const lost = items.length === 0 ? [] : this.#question.lost(items)
      this.#blindUntil = null
      this.#retry.worked()
      return lost
    } catch (error) {
      this.#blindUntil = this.#timers.now() + this.#retry.failed()
      this.#failed(error)
      return null
    }
  }
}
