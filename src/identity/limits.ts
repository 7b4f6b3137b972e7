/** Who may ask how much: a bucket for each requester, and no memory of those who have not asked for a while (BQ-189). */
import type { AddressLimits } from './address-limits.ts'
import { ByRequester } from './by-requester.ts'
import type { Places } from './places.ts'
import type { Question } from './question.ts'
import type { QuestionLimits } from './question-limits.ts'
import { type MachineTime, type Rate, TokenBucket, WINDOW_MS } from './token-bucket.ts'
import { tooMany } from './too-many.ts'

export interface Limits {
  /**
   * Throws `rate_limited`, telling after how long the same request is let through. Units are whole, 0 or more. Keys that are
   * no agent here are one requester.
   */
  charge(viewer: string, units: number): void
  /** Throws `rate_limited` where this is one different question too many (BQ-193). */
  ask(viewer: string, question: Question): void
  /** A place for an answer piece by piece; throws `rate_limited` where there is none. Returns what gives it back. */
  stream(viewer: string): () => void
  /** Room for so many bytes that a request may write; rejects with `quota_exceeded` where there is none. Returns what gives it back. */
  keep(viewer: string, bytes: number): Promise<() => void>
  /** Counts a wrong token from this address; throws `rate_limited` where it has sent too many. */
  failed(address: string): void
}

export const UNLIMITED: Limits = {
  charge: () => undefined,
  ask: () => undefined,
  stream: () => () => undefined,
  keep: async () => () => undefined,
  failed: () => undefined,
}

/** Beside the bucket; absent: that is not limited. */
export interface OtherLimits {
  readonly questions?: Pick<QuestionLimits, 'ask'> | undefined
  readonly streams?: Pick<Places, 'take'> | undefined
  readonly bytes?: { reserve(viewer: string, bytes: number): Promise<() => void> } | undefined
  readonly addresses?: Pick<AddressLimits, 'failed'> | undefined
}

/** Of one process. A requester who has been quiet until its bucket was full is the same as one never seen. */
export class RequesterLimits implements Limits {
  readonly #rate: Rate
  readonly #now: () => MachineTime
  readonly #others: OtherLimits
  readonly #buckets: ByRequester<TokenBucket>

  constructor(rate: Rate, now: () => MachineTime, others: OtherLimits = {}) {
    this.#rate = rate
    this.#now = now
    this.#others = others
    // Only full ones go: to forget another would be to fill it.
    this.#buckets = new ByRequester(
      at => new TokenBucket(rate, at),
      (bucket, at) => bucket.isFull(at),
    )
  }

  /** Buckets in memory. */
  get size(): number {
    return this.#buckets.size
  }

  charge(viewer: string, units: number): void {
    const now = this.#now()
    const waitMs = this.#buckets.of(viewer, now).take(units, now)
    const limit = this.#rate.unitsPerMinute
    if (waitMs > 0) throw tooMany('requests', { waitMs, limit, windowMs: WINDOW_MS })
  }

  ask(viewer: string, question: Question): void {
    this.#others.questions?.ask(viewer, question)
  }

  stream(viewer: string): () => void {
    return this.#others.streams?.take(viewer) ?? (() => undefined)
  }

  async keep(viewer: string, bytes: number): Promise<() => void> {
    return (await this.#others.bytes?.reserve(viewer, bytes)) ?? (() => undefined)
  }

  failed(address: string): void {
    this.#others.addresses?.failed(address)
  }
}
