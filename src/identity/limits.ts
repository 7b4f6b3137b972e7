/** Who may ask how much: a bucket for each requester, and no memory of those who have not asked for a while (BQ-189). */
import { QuerentError } from '../model/errors.ts'
import type { Question } from './question.ts'
import type { QuestionLimits } from './question-limits.ts'
import { requesterOf } from './requester.ts'
import type { StreamLimits } from './stream-limits.ts'
import { type MachineTime, type Rate, TokenBucket, WINDOW_MS } from './token-bucket.ts'

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
}

export const UNLIMITED: Limits = { charge: () => undefined, ask: () => undefined, stream: () => () => undefined }

/** Beside the bucket; absent: that is not limited. */
export interface OtherLimits {
  readonly questions?: Pick<QuestionLimits, 'ask'> | undefined
  readonly streams?: Pick<StreamLimits, 'open'> | undefined
}

/** So many buckets are kept without looking whether some are full again. */
const KEPT = 1_024

/** Of one process. A requester who has been quiet until its bucket was full is the same as one never seen. */
export class RequesterLimits implements Limits {
  readonly #rate: Rate
  readonly #now: () => MachineTime
  readonly #others: OtherLimits
  readonly #buckets = new Map<string, TokenBucket>()
  #sweepAt = KEPT

  constructor(rate: Rate, now: () => MachineTime, others: OtherLimits = {}) {
    this.#rate = rate
    this.#now = now
    this.#others = others
  }

  /** Buckets in memory: no more than twice as many as are not full, beyond a thousand. */
  get size(): number {
    return this.#buckets.size
  }

  charge(viewer: string, units: number): void {
    const now = this.#now()
    const waitMs = this.#bucketOf(requesterOf(viewer), now).take(units, now)
    if (waitMs > 0) throw rateLimited(waitMs, this.#rate)
  }

  ask(viewer: string, question: Question): void {
    this.#others.questions?.ask(viewer, question)
  }

  stream(viewer: string): () => void {
    return this.#others.streams?.open(viewer) ?? (() => undefined)
  }

  #bucketOf(requester: string, now: MachineTime): TokenBucket {
    const known = this.#buckets.get(requester)
    if (known !== undefined) return known
    if (this.#buckets.size >= this.#sweepAt) this.#sweep(now)
    const made = new TokenBucket(this.#rate, now)
    this.#buckets.set(requester, made)
    return made
  }

  /** Only full ones go: to forget another would be to fill it. */
  #sweep(now: MachineTime): void {
    for (const [requester, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(requester)
    this.#sweepAt = Math.max(KEPT, 2 * this.#buckets.size)
  }
}

function rateLimited(waitMs: number, { unitsPerMinute }: Rate): QuerentError {
  return new QuerentError('rate_limited', `too many requests: wait ${waitMs} ms`, {
    retry_after_ms: waitMs,
    limit: unitsPerMinute,
    window_ms: WINDOW_MS,
  })
}
