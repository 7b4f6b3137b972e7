/**
 * What is kept in memory under a text that was given away (a cursor), so that whoever comes back with it goes on where
 * they were. It may go at any time: whoever comes back must be answered without it too.
 */
import type { Instant } from '../base/clock.ts'

export interface HeldBounds {
  /** Most texts. */
  readonly most: number
  /** Of all values together, as those who hold them reckon. */
  readonly bytes: number
  readonly lifetimeMs: number
}

interface Kept<Value> {
  readonly viewer: string
  readonly value: Value
  readonly body: object
  readonly until: Instant
}

/** Those that were asked for longest ago go first. Values that share a body are counted once. */
export class Held<Value extends object> {
  readonly #bounds: HeldBounds
  /** By text, in the order of use, oldest first. */
  readonly #kept = new Map<string, Kept<Value>>()
  readonly #weights = new Map<object, { readonly bytes: number; texts: number }>()
  #bytes = 0

  constructor(bounds: HeldBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#kept.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** What is larger than all that may be held is not. `bytes` is the weight of the body, told when it is first held. */
  hold(text: string, viewer: string, value: Value, bytes: number, now: Instant, body: object = value): void {
    this.release(text)
    if (bytes > this.#bounds.bytes) return
    this.#kept.set(text, { viewer, value, body, until: now + this.#bounds.lifetimeMs })
    this.#weigh(body, bytes)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#bounds.most && this.#bytes <= this.#bounds.bytes) break
      this.release(oldest)
    }
  }

  /** Null: it is not, or no longer, held for this viewer. */
  find(text: string, viewer: string, now: Instant): Value | null {
    const kept = this.#kept.get(text)
    if (kept === undefined || kept.viewer !== viewer) return null
    this.#kept.delete(text)
    if (now >= kept.until) {
      this.#lighten(kept.body)
      return null
    }
    this.#kept.set(text, kept)
    return kept.value
  }

  release(text: string): void {
    const kept = this.#kept.get(text)
    if (kept === undefined) return
    this.#kept.delete(text)
    this.#lighten(kept.body)
  }

  clear(): void {
    this.#kept.clear()
    this.#weights.clear()
    this.#bytes = 0
  }

  #weigh(body: object, bytes: number): void {
    const known = this.#weights.get(body)
    if (known !== undefined) known.texts++
    else {
      this.#weights.set(body, { bytes, texts: 1 })
      this.#bytes += bytes
    }
  }

  #lighten(body: object): void {
    const weight = this.#weights.get(body)
    if (weight === undefined || --weight.texts > 0) return
    this.#weights.delete(body)
    this.#bytes -= weight.bytes
  }
}
