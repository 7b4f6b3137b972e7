/** Makes events of differences: numbers them, puts them in words, and seals what it takes to go on after each. */
import type { Clock, Instant } from '../../base/clock.ts'
import { toIso } from '../../model/instant.ts'
import { LIVE_TEXTS, type LiveEvent, type StandingQuestion } from '../../model/live.ts'
import { asTold, type Difference } from './difference.ts'
import type { KeptStates } from './kept-states.ts'
import type { Delivered } from './machine.ts'
import { travels, writeToken } from './resume-token.ts'

const HELD = 'It was held back by the limit of events a minute, and may stand for several changes.'

export interface AnnouncerParts {
  readonly clock: Clock
  readonly kept: KeptStates
  secret(): string
}

export class Announcer {
  readonly #subscription: string
  readonly #question: StandingQuestion
  readonly #parts: AnnouncerParts
  #seq: number

  /** `seq`: of the last event that was delivered, 0 for none. */
  constructor(subscription: string, seq: number, question: StandingQuestion, parts: AnnouncerParts) {
    this.#subscription = subscription
    this.#question = question
    this.#parts = parts
    this.#seq = seq
    parts.kept.delivered(subscription, seq)
  }

  /** `delivered`: with this difference. */
  announce({ type, key, id, reason, details, now }: Difference, delivered: Delivered, at: Instant): LiveEvent {
    const { kept } = this.#parts
    this.#seq += 1
    kept.delivered(this.#subscription, this.#seq)
    kept.changed(this.#subscription, key, now && asTold(now), delivered.asOf)
    return {
      subscription_id: this.#subscription,
      seq: this.#seq,
      timestamp: toIso(at),
      type,
      id,
      ...(now && { item: now.shown }),
      reason,
      text: details['held'] === true ? `${LIVE_TEXTS[reason]} ${HELD}` : LIVE_TEXTS[reason],
      details,
      resume_token: this.tokenOf(delivered, at),
    }
  }

  /** For going on from what was delivered. */
  tokenOf(delivered: Delivered, at: Instant): string {
    const { kept, secret } = this.#parts
    const isSmall = travels(delivered)
    if (!isSmall && !kept.isKept(this.#subscription)) kept.keep(this.#subscription, delivered)
    const { items, asOf } = delivered
    const resumption = { subscription: this.#subscription, seq: this.#seq, at, asOf, items: isSmall ? items : null }
    return writeToken(secret(), this.#question, resumption)
  }
}
