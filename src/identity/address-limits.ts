/**
 * How many wrong tokens an address may send: a bucket for each address, in bounded memory. Only wrong ones are counted and refused, so that
 * nobody can shut out those who share an address, such as all who come through one proxy.
 */
import { LRUCache } from 'lru-cache'
import { type MachineTime, type Rate, TokenBucket, WINDOW_MS } from './token-bucket.ts'
import { tooMany } from './too-many.ts'

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

/** An IPv4 address, also in its IPv6 form; of IPv6 the first 64 bits, which are one customer's (RFC 6177). */
function networkOf(address: string): string {
  const four = /\d+\.\d+\.\d+\.\d+$/.exec(address)?.[0]
  if (four !== undefined || !address.includes(':')) return four ?? address
  const [head = '', tail] = address.replace(/%.*/, '').split('::')
  const [left, right] = [head, tail ?? ''].map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array<string>(Math.max(0, 8 - (left?.length ?? 0) - (right?.length ?? 0))).fill('0')
  return [...(left ?? []), ...(tail === undefined ? [] : zeros), ...(right ?? [])].slice(0, 4).join(':')
}
