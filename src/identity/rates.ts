/** Building blocks of limits: token buckets, places, and the requester that a request counts against. */
import { QuerentError } from '../model/errors.ts'

// Token bucket: a number of units that refills steadily. Counted in integer parts of a unit, sixty thousand each, so that a rate per minute
// is an integer number of parts per millisecond: nothing is rounded except the wait, to a whole millisecond.

/** Whole milliseconds of a monotonic clock with an arbitrary origin. */
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

  /** The bucket is full at first. */
  constructor({ unitsPerMinute, burst }: Rate, now: MachineTime) {
    this.#perMs = unitsPerMinute
    this.#capacity = burst * PARTS
    this.#parts = this.#capacity
    this.#at = now
  }

  /**
   * Takes this many units (an integer, 0 or more) and returns 0; or takes none and returns the milliseconds until they are available. A
   * request that costs more than the capacity is allowed when the bucket is full, and leaves a debt, so that it is possible now and then.
   */
  take(units: number, now: MachineTime): number {
    this.#fill(now)
    const cost = units * PARTS
    const missing = Math.min(cost, this.#capacity) - this.#parts
    if (cost > 0 && missing > 0) return Math.ceil(missing / this.#perMs)
    this.#parts -= cost
    return 0
  }

  /** Whether the bucket is full, so that it can be replaced by a new one. */
  isFull(now: MachineTime): boolean {
    this.#fill(now)
    return this.#parts === this.#capacity
  }

  /** Adds the units for the elapsed time. If the clock was set back, nothing is added, and time counts from the new reading. */
  #fill(now: MachineTime): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#at = now
    const wanting = this.#capacity - this.#parts
    // Compares times rather than units, because elapsed time × rate may exceed the range of exact integers.
    this.#parts = elapsed >= wanting / this.#perMs ? this.#capacity : this.#parts + elapsed * this.#perMs
  }
}

/**
 * Makes the `rate_limited` error: it says how many requests are allowed per window of time, and how long to wait before the next one. Times
 * in milliseconds.
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

// Which requester a request counts against in limits.

const KEY = 'did:key:'

/**
 * The requester of a viewer: the viewer itself. All keys that belong to no agent of this store count as one requester, since keys are free
 * to create. Agents have names, which contain no colon.
 */
export function requesterOf(viewer: string): string {
  return viewer.startsWith(KEY) ? KEY : viewer
}

// Keeps an object for each requester, such as a bucket: created at the first request, and dropped when it equals a new one. In memory of
// one process.

/** Number of objects that are kept before those that equal a new one are looked for and dropped. */
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

  /** Number of objects in memory: beyond a thousand, at most twice the number of those that differ from a new one. */
  get size(): number {
    return this.#known.size
  }

  /** The object of the viewer; all keys that belong to no agent of this store share one. */
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

// Limits how many lasting things (streamed answers, live queries) a requester may have at a time.

export class Places {
  readonly #most: number
  readonly #what: string
  readonly #taken = new Map<string, number>()

  /** `most`: the limit for one requester at a time. `what`: name of the things in the plural, for messages. */
  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Number of places taken by all requesters. */
  get size(): number {
    return [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Takes a place. Throws `rate_limited` if the requester has no place left; an `unlimited` requester gets one in any case. Returns a
   * function that gives the place back, once.
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

/** The `rate_limited` error for too many things at a time. `what`: their name in the plural. */
export function tooManyAtOnce(limit: number, what: string): QuerentError {
  return new QuerentError('rate_limited', `at most ${limit} ${what} at a time: end one before the next`, { limit })
}

// The network that a message comes from, as far as it distinguishes senders.

/** Groups of an IPv6 address that identify a network (/64); within it, everybody can use any number of addresses. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/**
 * The key under which an address is counted: an IPv4 address itself, also if it is written as an IPv6 address; for an IPv6 address, its /64
 * network.
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
  /** Name of the operation through which the query was asked. */
  readonly operation: string
  readonly input: unknown
}

export interface Limits {
  /**
   * Charges units (an integer, 0 or more) to the requester. Throws `rate_limited` with the time after which the same request is allowed.
   * All keys that belong to no agent of this store are one requester.
   */
  charge(viewer: string, units: number): void
  /** Counts a query; throws `rate_limited` if the requester has asked too many different ones (BQ-193). */
  ask(viewer: string, question: Question): void
  /** Takes a place for a streamed answer; throws `rate_limited` if there is none left. Returns a function that gives it back. */
  stream(viewer: string): () => void
  /**
   * Reserves quota for the bytes that a request may write; rejects with `quota_exceeded` if there is not enough. Returns a function that
   * ends the reservation.
   */
  keep(viewer: string, bytes: number): Promise<() => void>
  /** Counts a wrong token from this address; throws `rate_limited` if the address has sent too many. */
  failed(address: string): void
}

export const UNLIMITED: Limits = {
  charge: () => undefined,
  ask: () => undefined,
  stream: () => () => undefined,
  keep: async () => () => undefined,
  failed: () => undefined,
}
