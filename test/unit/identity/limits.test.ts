/** BQ-189: each requester has a bucket. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequesterLimits } from '../../../src/identity/limits.ts'
import { TokenBucket, UNLIMITED } from '../../../src/identity/rates.ts'

const RATE = { unitsPerMinute: 200, burst: 33 }

describe('limits of requesters (BQ-189)', () => {
  it('count each requester separately, and say to a refused one how long to wait (BQ-185)', () => {
    const limits = new RequesterLimits(RATE, () => 0)
    limits.charge('ana', 33)
    expect(() => limits.charge('ana', 1)).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        retryable: true,
        message: 'too many requests: wait 300 ms',
        details: { retry_after_ms: 300, limit: 200, window_ms: 60_000 },
      }),
    )
    expect(() => limits.charge('ben', 33)).not.toThrow()
  })

  it('count keys that are no agent here as one, since anybody can make any number', () => {
    const limits = new RequesterLimits(RATE, () => 0)
    for (let i = 0; i < 33; i++) limits.charge(`did:key:z${i}`, 1)
    expect(() => limits.charge('did:key:zanother', 1)).toThrow('wait 300 ms')
    expect(limits.size).toBe(1)
    expect(() => limits.charge('did', 33)).not.toThrow()
  })

  it('are none where they are switched off', () => {
    for (let i = 0; i < 1_000; i++) UNLIMITED.charge('ana', 100)
  })

  it('remember nobody who has been quiet until the bucket was full', () => {
    let now = 0
    const limits = new RequesterLimits(RATE, () => now)
    for (let i = 0; i < 50_000; i++) {
      now += 1
      limits.charge(`agent ${i}`, 1)
    }
    // 300 are not full at any time.
    expect(limits.size).toBeLessThanOrEqual(1_024)
  })

  it('forget nobody who has asked lately, however many there are', () => {
    const limits = new RequesterLimits(RATE, () => 0)
    for (let i = 0; i < 5_000; i++) limits.charge(`agent ${i}`, 33)
    for (let i = 0; i < 5_000; i++) expect(() => limits.charge(`agent ${i}`, 1)).toThrow('wait 300 ms')
  })

  it('are those of buckets that are never forgotten, the requester when', () => {
    const asked = fc.array(fc.tuple(fc.nat(1_500), fc.nat(40), fc.nat(1_000)), { maxLength: 400 })
    fc.assert(
      fc.property(asked, calls => {
        let now = 0
        const limits = new RequesterLimits(RATE, () => now)
        // So many others that there is something to be forgotten.
        for (let i = 0; i < 1_024; i++) limits.charge(`other ${i}`, 1)
        const kept = new Map<number, TokenBucket>()
        for (const [who, units, later] of calls) {
          now += later
          const bucket = kept.get(who) ?? new TokenBucket(RATE, now)
          kept.set(who, bucket)
          const wait = bucket.take(units, now)
          const charge = () => limits.charge(`agent ${who}`, units)
          if (wait === 0) expect(charge).not.toThrow()
          else expect(charge).toThrow(`wait ${wait} ms`)
        }
      }),
      { numRuns: 40 },
    )
  })
})
