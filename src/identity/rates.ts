/**
 * Building blocks of the limits on requesters: token buckets, limits on concurrent streams and live queries, and the rule which requester a
 * request counts against.
 */
import { QuerentError } from '../model/errors.ts'

// Token bucket: a number of units that grows at a steady rate up to a capacity. Counted in whole 60,000ths of a unit, so that a rate of
// whole units per minute is a whole number of these parts per millisecond, and nothing is rounded except the wait, which is rounded to a
// whole millisecond.

/** Monotonic time in whole milliseconds, counted from an arbitrary instant. */
export type MachineTime = number

export interface Rate {
  /** Units added per minute: an integer, at least 1. */
  readonly unitsPerMinute: number
  /** Capacity of the bucket in units: an integer, at least 1. */
  readonly burst: number
}

export const WINDOW_MS = 60_000
const PARTS = WINDOW_MS

export class TokenBucket {
  readonly #perMs: number
  readonly #capacity: number
  #parts: number
  #at: MachineTime

  /** A new bucket is full. `now`: monotonic time in milliseconds. */
  constructor({ unitsPerMinute, burst }: Rate, now: MachineTime) {
    this.#perMs = unitsPerMinute
    this.#capacity = burst * PARTS
    this.#parts = this.#capacity
    this.#at = now
  }

  /**
   * Takes this many units (an integer, 0 or more) from the bucket and returns 0; or takes none and returns the milliseconds until they are
   * available. A request that costs more than the capacity is allowed when the bucket is full, and leaves the bucket negative, so that such
   * a request is possible now and then.
   */
  take(units: number, now: MachineTime): number {
    this.#fill(now)
    const cost = units * PARTS
    const missing = Math.min(cost, this.#capacity) - this.#parts
    if (cost > 0 && missing > 0) return Math.ceil(missing / this.#perMs)
    this.#parts -= cost
    return 0
  }

  /** Whether the bucket is full, so that dropping it and creating a new one later makes no difference. */
  isFull(now: MachineTime): boolean {
    this.#fill(now)
    return this.#parts === this.#capacity
  }

  /** Adds the units for the time since the last call. If the clock was set back, adds none, and counts from the new time on. */
  #fill(now: MachineTime): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#at = now
    const wanting = this.#capacity - this.#parts
    // To find out whether the bucket is full, times are compared rather than units, because elapsed time × rate may exceed the range of
    // exact integers.
    this.#parts = elapsed >= wanting / this.#perMs ? this.#capacity : this.#parts + elapsed * this.#perMs
  }
}

/**
 * The `rate_limited` error, which says how many requests are allowed per window of time, and how long to wait before the next one. Both
 * times are in milliseconds.
 */
export function tooMany(
  of: string,
  { waitMs, limit, windowMs }: { readonly waitMs: number; readonly limit: number; readonly windowMs: number },
): QuerentError {
  return new QuerentError('rate_limited', `too many ${of}: wait ${waitMs} ms`, {
    retry_after_ms: waitMs,
    limit,
    window_ms: windowMs,
  })
}

// The rule which requester a request counts against in limits.

const KEY = 'did:key:'

/**
 * The requester that a viewer's requests count against: the viewer itself. All keys that belong to no agent of this store count as one
 * requester, since anybody can create any number of keys. The names of agents contain no colon, while keys do.
 */
export function requesterOf(viewer: string): string {
  return viewer.startsWith(KEY) ? KEY : viewer
}

// Keeps one object (such as a token bucket) for each requester, in the memory of one process. The object is created at the requester's
// first request, and dropped when its state equals that of a newly created one, such as a full bucket.

/**
 * Number of objects in memory (one for each requester) above which objects are looked for that may be dropped because their state equals
 * that of a newly created one.
 */
const KEPT = 1_024

export class ByRequester<T> {
  readonly #make: (now: number) => T
  readonly #isAsNew: (one: T, now: number) => boolean
  readonly #known = new Map<string, T>()
  #sweepAt = KEPT

  constructor(make: (now: number) => T, isAsNew: (one: T, now: number) => boolean) {
    this.#make = make
    this.#isAsNew = isAsNew
  }

  /**
   * Number of objects in memory, one for each requester. Objects whose state equals that of a new one (such as full token buckets) are
   * dropped in time, so above about a thousand at most half of the objects are such.
   */
  get size(): number {
    return this.#known.size
  }

  /** The object kept for the viewer's requester; all keys that belong to no agent of this store share one requester and so one object. */
  of(viewer: string, now: number): T {
    const requester = requesterOf(viewer)
    const known = this.#known.get(requester)
    if (known !== undefined) return known
    if (this.#known.size >= this.#sweepAt) this.#sweep(now)
    const made = this.#make(now)
    this.#known.set(requester, made)
    return made
  }

  #sweep(now: number): void {
    for (const [requester, one] of this.#known) if (this.#isAsNew(one, now)) this.#known.delete(requester)
    this.#sweepAt = Math.max(KEPT, 2 * this.#known.size)
  }
}

// Limits how many streamed answers or live queries a requester may have open at the same time.

export class Places {
  readonly #most: number
  readonly #what: string
  readonly #taken = new Map<string, number>()

  /**
   * `most`: maximum number that one requester may have open at the same time. `what`: plural noun for what is limited, for error messages.
   */
  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Number of streams or live queries that all requesters together have open. */
  get size(): number {
    return [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Takes one place for a stream or live query of the requester. Throws `rate_limited` if the requester has as many open as allowed; an
   * `unlimited` requester always gets a place. The returned function gives the place back; calling it again has no effect.
   */
  take(viewer: string, unlimited = false): () => void {
    const requester = requesterOf(viewer)
    const count = this.#takenBy(requester)
    if (count >= this.#most && !unlimited) throw tooManyAtOnce(this.#most, this.#what)
    this.#taken.set(requester, count + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const left = this.#takenBy(requester) - 1
      if (left === 0) this.#taken.delete(requester)
      else this.#taken.set(requester, left)
    }
  }

  #takenBy(requester: string): number {
    return this.#taken.get(requester) ?? 0
  }
}

/** The `rate_limited` error for too many streams or live queries open at the same time. `what`: their name in the plural. */
export function tooManyAtOnce(limit: number, what: string): QuerentError {
  return new QuerentError('rate_limited', `at most ${limit} ${what} at a time: end one before the next`, { limit })
}

// Which network a connection comes from, for counting wrong tokens by sender.

/**
 * Number of 16-bit groups of an IPv6 address that identify a network (/64); within one network, everybody can use any number of addresses.
 */
const NETWORK_GROUPS = 4
const GROUPS = 8

/**
 * The text under which wrong tokens from an address are counted: an IPv4 address itself, also if it is written as an IPv6 address; for an
 * IPv6 address, its /64 network.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!bare.includes(':')) return bare
  const [before = [], after = []] = bare.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(0, GROUPS - before.length - after.length) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS)
  return groups.map(group => Number.parseInt(group, 16).toString(16)).join(':')
}

export interface Question {
  /** Name of the operation that asked the query. */
  readonly operation: string
  readonly input: unknown
}

export interface Limits {
  /**
   * Charges units (an integer, 0 or more) to the requester's token bucket. If it has too few, throws `rate_limited` with the time after
   * which the same request is allowed. All keys that belong to no agent of this store are one requester.
   */
  charge(viewer: string, units: number): void
  /** Counts a query; throws `rate_limited` if the requester has asked too many different ones (BQ-193). */
  ask(viewer: string, question: Question): void
  /**
   * Takes a place for a streamed answer of the requester; throws `rate_limited` if as many streams as allowed are open. The returned
   * function gives the place back.
   */
  stream(viewer: string): () => void
  /**
   * Reserves byte quota for what a request may write; rejects with `quota_exceeded` if too little is left. The returned function ends the
   * reservation.
   */
  keep(viewer: string, bytes: number): Promise<() => void>
  /** Counts a wrong access token sent from this network address; throws `rate_limited` if the address has sent too many. */
  failed(address: string): void
}

export const UNLIMITED: Limits = {
  charge: () => undefined,
  ask: () => undefined,
  stream: () => () => undefined,
  keep: async () => () => undefined,
  failed: () => undefined,
}
