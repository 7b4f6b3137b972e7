/** Makes events of differences: numbers them, puts them in words, and seals what it takes to go on after each. */
import type { Clock, Instant } from '../../base/clock.ts'
import { requesterOf } from '../../identity/requester.ts'
import { toIso } from '../../model/instant.ts'
import { LIVE_TEXTS, type LiveEvent, type StandingQuestion } from '../../model/live.ts'
import { asTold, type Delivered, type Difference } from './difference.ts'
import type { KeptFor, KeptStates } from './kept-states.ts'
import { travels, writeToken } from './resume-token.ts'

const HELD = 'It was held back by the limit of events a minute, and may stand for several changes.'

export interface AnnouncerParts {
  readonly clock: Clock
  readonly kept: KeptStates
  secret(): string
}

/** What a subscriber was told; all of it is read only where it is short, or once in a while. */
export interface DeliveredSoFar {
  readonly delivered: Delivered
  readonly asOf: Instant
  /** Bytes of its items in a token. */
  readonly rowsLength: number
  readonly count: number
}

export class Announcer {
  readonly #for: KeptFor
  readonly #question: StandingQuestion
  readonly #parts: AnnouncerParts
  #seq: number
  /** Events since its state was last begun to be kept. */
  #sinceKept = Number.POSITIVE_INFINITY

  /** `seq`: of the last event that was delivered, 0 for none. */
  constructor(subscription: string, seq: number, question: StandingQuestion, parts: AnnouncerParts) {
    this.#for = { subscription, requester: requesterOf(question.viewer.id) }
    this.#question = question
    this.#parts = parts
    this.#seq = seq
    parts.kept.delivered(this.#for, seq)
  }

  /** `told`: with this difference. */
  announce({ type, key, id, passage, reason, details, now }: Difference, told: DeliveredSoFar, at: Instant): LiveEvent {
    const { kept } = this.#parts
    const { subscription } = this.#for
    this.#seq += 1
    this.#sinceKept += 1
    kept.delivered(this.#for, this.#seq)
    kept.changed(subscription, key, now && asTold(now), told.asOf)
    return {
      subscription_id: subscription,
      seq: this.#seq,
      timestamp: toIso(at),
      type,
      id,
      ...(passage !== undefined && { passage }),
      ...(now && { item: now.shown }),
      reason,
      text: details['held'] === true ? `${LIVE_TEXTS[reason]} ${HELD}` : LIVE_TEXTS[reason],
      details,
      resume_token: this.tokenOf(told, at),
    }
  }

  /** For going on from what was delivered. */
  tokenOf(told: DeliveredSoFar, at: Instant): string {
    const isSmall = travels(told.rowsLength)
    if (!isSmall) this.#keep(told)
    const items = isSmall ? told.delivered.items : null
    const resumption = { subscription: this.#for.subscription, seq: this.#seq, at, asOf: told.asOf, items }
    return writeToken(this.#parts.secret(), this.#question, resumption)
  }

  /** It was left here. */
  left(at: Instant): void {
    this.#parts.kept.left(this.#for, at)
  }

  /** What was pushed out by its own requester's others is kept anew after as many events as it has items, not after each. */
  #keep(told: DeliveredSoFar): void {
    const { kept } = this.#parts
    if (kept.isKept(this.#for.subscription) || this.#sinceKept < told.count) return
    this.#sinceKept = 0
    kept.keep(this.#for, told.delivered)
  }
}
