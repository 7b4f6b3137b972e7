/** Who may ask how much: a bucket for each requester, and no memory of those who have not asked for a while (BQ-189). */

import { LRUCache } from 'lru-cache'
import { canonicalJson, type Json, type JsonObject, sha256 } from '../base/canonical.ts'
import type { Clock, Instant } from '../base/clock.ts'
import { textHash } from '../base/text-hash.ts'
import {
  ByRequester,
  type Limits,
  type MachineTime,
  networkOf,
  type Places,
  type Question,
  type Rate,
  TokenBucket,
  tooMany,
  WINDOW_MS,
} from './rates.ts'

// How many wrong tokens an address may send: a bucket for each address, in bounded memory. Only wrong ones are counted and refused, so that
// nobody can shut out those who share an address, such as all who come through one proxy.

/** A page with a mistyped token sends some requests before it asks for another. */
const RATE: Rate = { unitsPerMinute: 30, burst: 30 }
/** Addresses in memory, some hundred bytes each: those seen last. */
const CAPACITY = 4_096

export class AddressLimits {
  readonly #now: () => MachineTime
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: CAPACITY })

  constructor(now: () => MachineTime) {
    this.#now = now
  }

  /** Addresses in memory. */
  get size(): number {
    return this.#buckets.size
  }

  /** Throws `rate_limited` where this is one failure too many. `address`: IPv4 or IPv6; empty: no network, such as a socket of Unix. */
  failed(address: string): void {
    const network = networkOf(address)
    const now = this.#now()
    const bucket = this.#buckets.get(network) ?? new TokenBucket(RATE, now)
    this.#buckets.set(network, bucket)
    const waitMs = bucket.take(1, now)
    if (waitMs > 0) {
      throw tooMany('wrong tokens', { waitMs, limit: RATE.unitsPerMinute, windowMs: WINDOW_MS })
    }
  }
}

// What makes two questions the same, and what makes them nearly alike (BQ-193).

/** Of a question: the same for the same one, whichever page of it is asked for and however it is sent. */
export interface Asked {
  readonly key: string
  /** Hashes of its words, ascending, at most 64: of more, the lowest, which are as good as chosen by chance. */
  readonly words: readonly number[]
}

const MAX_WORDS = 64
const WORD = /[\p{L}\p{M}]+/gu
/** How an answer is read, and not what is asked. */
const READING: ReadonlySet<string> = new Set(
  'cursor offset limit chunk_size stream timeout_ms explain trace resume_token'.split(' '),
)

export function askedBy({ operation, input }: Question): Asked {
  const asked = withoutReading(input)
  const hashes = new Set<number>()
  addWords(asked, hashes)
  return {
    key: sha256(canonicalJson([operation, asked])).slice(0, 24),
    words: [...hashes].sort((a, b) => a - b).slice(0, MAX_WORDS),
  }
}

/** How much of the words of both is in both, 0 to 1; those without words are alike. Numbers and dates are no words. */
export function likeness(a: readonly number[], b: readonly number[]): number {
  const inA = new Set(a)
  const common = b.filter(word => inA.has(word)).length
  const all = a.length + b.length - common
  return all === 0 ? 1 : common / all
}

/** At the top and in `options`: further in the same names may be somebody's fields. */
function withoutReading(input: unknown): Json {
  const json = asJson(input, MAX_LEVELS)
  if (!isObject(json)) return json
  const { options, ...rest } = json
  return isObject(options) ? { ...without(rest), options: without(options) } : without(json)
}

/** As far as a request may be nested at all; what lies deeper makes no difference. */
const MAX_LEVELS = 32

function asJson(value: unknown, levels: number): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null || levels === 0) return null
  if (Array.isArray(value)) return value.map(item => asJson(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asJson(member, levels - 1)]))
}

function without(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !READING.has(name)))
}

function addWords(value: Json, into: Set<number>): void {
  if (typeof value === 'string') {
    for (const [word] of value.normalize('NFKC').toLowerCase().matchAll(WORD)) into.add(textHash(word))
  } else if (value !== null && typeof value === 'object') {
    for (const member of Object.values(value)) addWords(member as Json, into)
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Against who would copy a store by asking, or find out about one belief by many questions that are nearly alike (BQ-193): how
// many different questions a requester may ask. Off unless settings say otherwise. By the clock of what is asked about, so
// that the same questions at the same times are refused alike.

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
      throw tooMany('queries that are nearly alike', {
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

/** Beside the bucket; absent: that is not limited. */
interface OtherLimits {
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
