/**
 * Rate limits for requesters from outside. Each requester has a token bucket, which is dropped from memory when the requester has been
 * quiet long enough for the bucket to be full (BQ-189).
 */

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

// Limits the number of wrong access tokens from a network address: one token bucket per address, in bounded memory. Only requests with a
// wrong token are counted and refused, so that nobody can shut out others at the same address, for example behind one proxy.

/**
 * Rate of wrong access tokens allowed from one network address. The rate is generous, because a web page with a mistyped token sends some
 * requests before it asks its user for another token.
 */
const RATE: Rate = { unitsPerMinute: 30, burst: 30 }
/**
 * Maximum number of network addresses whose wrong tokens are counted in memory, some hundred bytes each; those seen most recently are kept.
 */
const CAPACITY = 4_096

export class AddressLimits {
  readonly #now: () => MachineTime
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: CAPACITY })

  constructor(now: () => MachineTime) {
    this.#now = now
  }

  /** Number of network addresses whose wrong tokens are counted at present. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Counts a wrong access token. Throws `rate_limited` if the address has sent too many. `address`: IPv4 or IPv6 address of the sender;
   * empty if the connection is not from a network, such as a Unix socket.
   */
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

// Decides which queries count as the same query and which as nearly alike, for limits on the number of different queries (BQ-193).

/**
 * Fingerprint of a query: equal for equal queries, whichever page is requested and however the answer is sent. It consists of a hash
 * (`key`) and the hashes of the query's words.
 */
export interface Asked {
  readonly key: string
  /**
   * Hashes of the query's different words, ascending, at most 64. If the query has more words, those with the lowest hashes are kept, which
   * is as good as a random sample.
   */
  readonly words: readonly number[]
}

const MAX_WORDS = 64
const WORD = /[\p{L}\p{M}]+/gu
/**
 * Names of input fields that change only how an answer is read (pages, format, time limit), so that queries that differ in these fields
 * alone count as the same.
 */
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

/**
 * Jaccard similarity of two queries by the hashes of their words: number of common words divided by the number of all different words; 1 if
 * neither has words. Numbers and dates do not count as words.
 */
export function likeness(a: readonly number[], b: readonly number[]): number {
  const inA = new Set(a)
  const common = b.filter(word => inA.has(word)).length
  const all = a.length + b.length - common
  return all === 0 ? 1 : common / all
}

/**
 * A copy of the query's input without the fields that only change how the answer is read. They are removed at the top level and in
 * `options` only, because deeper fields with these names may be the caller's data.
 */
function withoutReading(input: unknown): Json {
  const json = asJson(input, MAX_LEVELS)
  if (!isObject(json)) return json
  const { options, ...rest } = json
  return isObject(options) ? { ...without(rest), options: without(options) } : without(json)
}

/** Maximum nesting depth of a query's input that its fingerprint takes into account; deeper content is ignored. */
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

// Limits the number of different queries of a requester, against copying a store by queries, or finding out about one belief by many
// queries that are nearly alike (BQ-193). Off unless it is configured. Uses the clock of the data rather than the machine's, so that the
// same queries at the same times are always refused alike.

export interface QuestionRules {
  /** Maximum number of different queries in one UTC day; null: no limit. */
  readonly questionsPerDay: number | null
  /** Maximum number of different but nearly alike queries in an hour; null: no limit. */
  readonly alikePerHour: number | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/**
 * Minimum similarity (common words divided by all different words) at which two queries count as nearly alike, whatever their operations;
 * at five words, one word may differ.
 */
const ALIKE = 0.6
/** Maximum number of groups of nearly alike queries that are kept in memory for each requester; those used last are kept. */
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

  /** Number of requesters whose queries are counted in memory at present. */
  get size(): number {
    return this.#requesters.size
  }

  /**
   * Counts a query of the viewer. Throws `rate_limited` if it exceeds a limit, unless the viewer was allowed the same query before.
   */
  ask(viewer: string, question: Question): void {
    if (this.#rules.questionsPerDay === null && this.#rules.alikePerHour === null) return
    const now = this.#clock.now()
    this.#requesters.of(viewer, now).ask(askedBy(question), this.#rules, now)
  }
}

/** A group of one requester's queries, each nearly alike to the first query of the group. */
interface Group {
  readonly first: Asked
  /** Instant at which each query of the group, by its hash, was first asked; oldest first. */
  readonly asked: Map<string, Instant>
}

class Requester {
  #day = Number.NaN
  readonly #ofDay = new Set<string>()
  /** Groups of nearly alike queries, ordered by when a query was last added to them, oldest first. */
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

  /**
   * Drops the counts of different queries if the UTC day has changed. Also drops records of nearly alike queries that were asked more than
   * an hour ago, or that are dated in the future because the clock was set back.
   */
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

/** Limits on a requester in addition to the token bucket for units; a limit that is absent is not enforced. */
interface OtherLimits {
  readonly questions?: Pick<QuestionLimits, 'ask'> | undefined
  readonly streams?: Pick<Places, 'take'> | undefined
  readonly bytes?: { reserve(viewer: string, bytes: number): Promise<() => void> } | undefined
  readonly addresses?: Pick<AddressLimits, 'failed'> | undefined
}

/** All limits on requesters from outside, in one process. A requester whose token bucket has filled up again is treated like a new one. */
export class RequesterLimits implements Limits {
  readonly #rate: Rate
  readonly #now: () => MachineTime
  readonly #others: OtherLimits
  readonly #buckets: ByRequester<TokenBucket>

  constructor(rate: Rate, now: () => MachineTime, others: OtherLimits = {}) {
    this.#rate = rate
    this.#now = now
    this.#others = others
    // A token bucket may be dropped from memory only when it is full, because the requester would get a new, full one at the next request.
    this.#buckets = new ByRequester(
      at => new TokenBucket(rate, at),
      (bucket, at) => bucket.isFull(at),
    )
  }

  /** Number of token buckets in memory at present. */
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
