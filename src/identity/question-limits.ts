/**
 * Against who would copy a store by asking, or find out about one belief by many questions that are nearly alike (BQ-193): how
 * many different questions a requester may ask. Off unless settings say otherwise. By the clock of what is asked about, so
 * that the same questions at the same times are refused alike.
 */
import type { Clock, Instant } from '../base/clock.ts'
import { QuerentError } from '../model/errors.ts'
import { type Asked, askedBy, likeness, type Question } from './question.ts'
import { requesterOf } from './requester.ts'

export interface QuestionRules {
  /** Different questions in one day of UTC; null: any number. */
  readonly questionsPerDay: number | null
  /** Different questions in an hour that are nearly alike; null: any number. */
  readonly alikePerHour: number | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** From which share of common words on two questions are nearly alike, by whatever operations: of five words one may differ. */
const ALIKE = 0.6
/** Groups of questions that are nearly alike, for each requester: those asked last. */
const GROUPS = 32
/** So many requesters are kept without looking whether some have nothing that counts any more. */
const KEPT = 1_024

export class QuestionLimits {
  readonly #rules: QuestionRules
  readonly #clock: Clock
  readonly #requesters = new Map<string, Requester>()
  #sweepAt = KEPT

  constructor(rules: QuestionRules, clock: Clock) {
    this.#rules = rules
    this.#clock = clock
  }

  /** Requesters in memory. */
  get size(): number {
    return this.#requesters.size
  }

  /** Throws `rate_limited` where this is one question too many. One that was let through may be asked again. */
  ask(viewer: string, question: Question): void {
    if (this.#rules.questionsPerDay === null && this.#rules.alikePerHour === null) return
    const now = this.#clock.now()
    this.#requesterOf(requesterOf(viewer), now).ask(askedBy(question), this.#rules, now)
  }

  #requesterOf(name: string, now: Instant): Requester {
    const known = this.#requesters.get(name)
    if (known !== undefined) return known
    if (this.#requesters.size >= this.#sweepAt) this.#sweep(now)
    const made = new Requester()
    this.#requesters.set(name, made)
    return made
  }

  #sweep(now: Instant): void {
    for (const [name, requester] of this.#requesters) if (requester.isEmpty(now)) this.#requesters.delete(name)
    this.#sweepAt = Math.max(KEPT, 2 * this.#requesters.size)
  }
}

/** Questions that are nearly alike the first of them. */
interface Group {
  readonly first: Asked
  /** When each was asked first, oldest first. */
  readonly asked: Map<string, Instant>
}

class Requester {
  #day = Number.NaN
  readonly #ofDay = new Set<string>()
  /** In the order of use, oldest first. */
  #groups: Group[] = []

  ask(asked: Asked, { questionsPerDay, alikePerHour }: QuestionRules, now: Instant): void {
    this.#forget(now)
    const isNew = !this.#ofDay.has(asked.key)
    if (questionsPerDay !== null && isNew && this.#ofDay.size >= questionsPerDay) {
      throw tooMany('different questions today', DAY_MS - (now - this.#day), questionsPerDay, DAY_MS)
    }
    if (alikePerHour !== null) this.#count(asked, alikePerHour, now)
    if (questionsPerDay !== null) this.#ofDay.add(asked.key)
  }

  isEmpty(now: Instant): boolean {
    this.#forget(now)
    return this.#ofDay.size === 0 && this.#groups.length === 0
  }

  #count(asked: Asked, most: number, now: Instant): void {
    const isAlike = ({ first }: Group) => likeness(first.words, asked.words) >= ALIKE
    const group = this.#groups.find(isAlike) ?? { first: asked, asked: new Map<string, Instant>() }
    if (group.asked.has(asked.key)) return
    if (group.asked.size >= most) {
      const [oldest = now] = group.asked.values()
      throw tooMany('questions that are nearly alike', HOUR_MS - (now - oldest), most, HOUR_MS)
    }
    group.asked.set(asked.key, now)
    this.#groups = [...this.#groups.filter(each => each !== group), group].slice(-GROUPS)
  }

  /** What is of another day, or more than an hour ago. A clock that was set back begins anew. */
  #forget(now: Instant): void {
    const day = Math.floor(now / DAY_MS) * DAY_MS
    if (day !== this.#day) this.#ofDay.clear()
    this.#day = day
    for (const { asked } of this.#groups) {
      for (const [key, at] of asked) if (at > now || now - at >= HOUR_MS) asked.delete(key)
    }
    this.#groups = this.#groups.filter(({ asked }) => asked.size > 0)
  }
}

function tooMany(of: string, waitMs: number, limit: number, windowMs: number): QuerentError {
  return new QuerentError('rate_limited', `too many ${of}: wait ${waitMs} ms`, {
    retry_after_ms: waitMs,
    limit,
    window_ms: windowMs,
  })
}
