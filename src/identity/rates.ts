/** What limits are made of: buckets, places, and whom a request counts against. */
import { QuerentError } from '../model/errors.ts'

// How much somebody may ask for: a bucket of units that fills steadily. Counted in whole parts of a unit, sixty thousand of
// them, so that the rate a minute is whole parts a millisecond: nothing is ever rounded but the wait, up to a millisecond.

/** Milliseconds of some clock that does not matter, whole ones. */
export type MachineTime = number

export interface Rate {
  /** Whole, at least 1. */
  readonly unitsPerMinute: number
  /** What a bucket holds: whole, at least 1. */
  readonly burst: number
}

export const WINDOW_MS = 60_000
const PARTS = WINDOW_MS

export class TokenBucket {
  readonly #perMs: number
  readonly #capacity: number
  #parts: number
  #at: MachineTime

  /** Full to begin with. */
  constructor({ unitsPerMinute, burst }: Rate, now: MachineTime) {
    this.#perMs = unitsPerMinute
    this.#capacity = burst * PARTS
    this.#parts = this.#capacity
    this.#at = now
  }

  /**
   * Takes so many units (0 or more, whole) and returns 0; or takes none and returns after how many milliseconds they would
   * be there. What costs more than the bucket holds is let through when it is full, and leaves a debt: who may ask for it
   * at all may ask for it now and then.
   */
  take(units: number, now: MachineTime): number {
    this.#fill(now)
    const cost = units * PARTS
    const missing = Math.min(cost, this.#capacity) - this.#parts
    if (cost > 0 && missing > 0) return Math.ceil(missing / this.#perMs)
    this.#parts -= cost
    return 0
  }

  /** Whether it is as good as a new one. */
  isFull(now: MachineTime): boolean {
    this.#fill(now)
    return this.#parts === this.#capacity
  }

  /** A clock that was set back fills nothing, and begins again from where it is. */
  #fill(now: MachineTime): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#at = now
    const wanting = this.#capacity - this.#parts
    // By way of the time that is needed: elapsed times rate may be beyond what is counted exactly.
    this.#parts = elapsed >= wanting / this.#perMs ? this.#capacity : this.#parts + elapsed * this.#perMs
  }
}

/** `rate_limited`: of these so many are let through in a window of time, and the next after this wait. Milliseconds. */
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

// Whom a request counts against, where there are limits.

const KEY = 'did:key:'

/**
 * The viewer; but all keys that are no agent here are one, since keys are free to create. Agents have names: no
 * name has a colon.
 */
export function requesterOf(viewer: string): string {
  return viewer.startsWith(KEY) ? KEY : viewer
}

// Something of each requester: made when it first asks, and forgotten when it is as good as new. Of one process.

/** So many are kept without looking whether some are as good as new. */
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

  /** In memory: no more than twice as many as are not as good as new, beyond a thousand. */
  get size(): number {
    return this.#known.size
  }

  /** The viewer's; keys that are no agent here have one together. */
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

// How many of something that lasts a requester may have at a time: answers under way piece by piece, live queries.

export class Places {
  readonly #most: number
  readonly #what: string
  readonly #taken = new Map<string, number>()

  /** At a time, of one requester. `what` they are, in the plural. */
  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Taken by all requesters. */
  get size(): number {
    return [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Throws `rate_limited` where this is one too many; who is `unlimited` takes one all the same. Returns what gives the place
   * back, once.
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

/** `rate_limited`. `what` they are, in the plural. */
export function tooManyAtOnce(limit: number, what: string): QuerentError {
  return new QuerentError('rate_limited', `at most ${limit} ${what} at a time: end one before the next`, { limit })
}

// Where a message comes from, as far as it tells senders apart.

/** Groups of an IPv6 address that name a network; in one everybody has any number of addresses. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** An IPv4 address as it is, also where it is written as one of IPv6; of an IPv6 address the network (/64). */
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
  /** Name of the operation that it is asked by. */
  readonly operation: string
  readonly input: unknown
}

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
