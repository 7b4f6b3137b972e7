/**
 * Against who would copy a store by asking, or find out about one belief by many questions that are nearly alike (BQ-193): how
 * many different questions a requester may ask. Off unless settings say otherwise. By the clock of what is asked about, so
 * that the same questions at the same times are refused alike.
 */
import type { Clock, Instant } from '../base/clock.ts'
import { ByRequester } from './by-requester.ts'
import { type Asked, askedBy, likeness, type Question } from './question.ts'
import { tooMany } from './too-many.ts'

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

export class QuestionLimits {
  readonly #rules: QuestionRules
  readonly #clock: Clock
  readonly #requesters = new ByRequester(
    () => new Requester(),
    (requester, now) => requester.isEmpty(now),
  )

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
    this.#requesters.of(viewer, now).ask(askedBy(question), this.#rules, now)
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
      throw tooMany('different questions today', {
        waitMs: DAY_MS - (now - this.#day),
        limit: questionsPerDay,
        windowMs: DAY_MS,
      })
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
      throw tooMany('questions that are nearly alike', {
        waitMs: HOUR_MS - (now - oldest),
        limit: most,
        windowMs: HOUR_MS,
      })
    }
    group.asked.set(asked.key, now)
    this.#groups = [...this.#groups.filter(each => each !== group), group].slice(-GROUPS)
  }

  /** What is of another day, or more than an hour ago. A clock that was set back begins again. */
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
