/** Remembers which numbers of a sender were used, for as long as a message that bears one could still be taken. */
import type { Instant } from '../base/clock.ts'
import { CLOCK_TOLERANCE_MS } from './freshness.ts'

/** A message may be dated one tolerance ahead and is taken until one tolerance behind: 600 s. */
export const NONCE_LIFE_MS: number = 2 * CLOCK_TOLERANCE_MS

export interface Nonces {
  /**
   * True the first time, false for every repetition within `NONCE_LIFE_MS` at least. To be asked last, of messages that
   * are good in all else: strangers then cannot fill it, nor use up another's numbers.
   */
  use(sender: string, nonce: string, now: Instant): boolean | Promise<boolean>
  /** Whether `use` would be false, as far as that is known without writing anything. */
  isUsed(sender: string, nonce: string, now: Instant): boolean
}

/** Those of one process, in two generations: the older is forgotten whole, when nothing in it can matter any more. */
export class MemoryNonces implements Nonces {
  #young = new Set<string>()
  #old = new Set<string>()
  /** When the young generation began; it is the youngest message's that the old one holds. */
  #since = Number.NEGATIVE_INFINITY

  get size(): number {
    return this.#young.size + this.#old.size
  }

  use(sender: string, nonce: string, now: Instant): boolean {
    if (this.isUsed(sender, nonce, now)) return false
    this.#young.add(keyOf(sender, nonce))
    return true
  }

  isUsed(sender: string, nonce: string, now: Instant): boolean {
    this.#age(now)
    const key = keyOf(sender, nonce)
    return this.#young.has(key) || this.#old.has(key)
  }

  #age(now: Instant): void {
    const age = now - this.#since
    if (age <= NONCE_LIFE_MS) return
    this.#old = age > 2 * NONCE_LIFE_MS ? new Set() : this.#young
    this.#young = new Set()
    this.#since = now
  }
}

function keyOf(sender: string, nonce: string): string {
  return JSON.stringify([sender, nonce])
}
