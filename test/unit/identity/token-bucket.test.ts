/** BQ-189: the bucket of units that a requester asks from. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Rate, TokenBucket } from '../../../src/identity/rates.ts'

const RATE: Rate = { unitsPerMinute: 200, burst: 33 }

describe('a bucket of 33 units that fills by 200 a minute (BQ-189)', () => {
  it('lets 33 of 34 requests of one moment through, and tells the last to wait for 300 ms', () => {
    const bucket = new TokenBucket(RATE, 0)
    const waits = Array.from({ length: 34 }, () => bucket.take(1, 0))
    expect(waits).toEqual([...Array.from({ length: 33 }, () => 0), 300])
    expect(bucket.take(1, 299)).toBe(1)
    expect(bucket.take(1, 300)).toBe(0)
    expect(bucket.take(1, 300)).toBe(300)
  })

  it('lets 200 a minute through in the long run, however they come', () => {
    const bucket = new TokenBucket(RATE, 0)
    let passed = 0
    for (let now = 0; now < 600_000; now += 7) if (bucket.take(1, now) === 0) passed++
    expect(passed).toBe(33 + 2000 - 1)
  })

  it('lets what costs more than it holds through when it is full, and then waits for the debt to be paid', () => {
    const bucket = new TokenBucket(RATE, 0)
    expect(bucket.take(1, 0)).toBe(0)
    expect(bucket.take(100, 0)).toBe(300)
    expect(bucket.take(100, 300)).toBe(0)
    // 67 owed, and one to take.
    expect(bucket.take(1, 300)).toBe(68 * 300)
    expect(bucket.take(1, 300 + 68 * 300)).toBe(0)
  })

  it('takes nothing for nothing, even in debt', () => {
    const bucket = new TokenBucket(RATE, 0)
    bucket.take(40, 0)
    expect(bucket.take(0, 0)).toBe(0)
  })

  it('neither fills nor stops for good when its clock is set back', () => {
    const bucket = new TokenBucket(RATE, 1_000_000)
    bucket.take(33, 1_000_000)
    expect(bucket.take(1, 0)).toBe(300)
    expect(bucket.take(1, 300)).toBe(0)
  })
})

const rates = fc.record({
  unitsPerMinute: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 1_000_000 }),
})
const steps = fc.array(
  fc.record({
    units: fc.integer({ min: 0, max: 100 }),
    later: fc.oneof(fc.nat(2_000), fc.nat(Number.MAX_SAFE_INTEGER)),
  }),
  { maxLength: 60 },
)

describe('any bucket (BQ-189)', () => {
  it('tells the first millisecond at which the same request is let through', () => {
    fc.assert(
      fc.property(rates, steps, (rate, history) => {
        const replay = (until: number) => {
          const bucket = new TokenBucket(rate, 0)
          let now = 0
          for (const { units, later } of history.slice(0, until)) {
            now = Math.min(now + later, 2 ** 52)
            bucket.take(units, now)
          }
          return { bucket, now }
        }
        history.forEach(({ units }, at) => {
          const { bucket, now } = replay(at)
          const wait = bucket.take(units, now)
          if (wait === 0) return
          expect(bucket.take(units, now + wait - 1)).toBeGreaterThan(0)
          expect(bucket.take(units, now + wait)).toBe(0)
        })
      }),
      { numRuns: 60 },
    )
  })

  it('gives out no more than it held and was filled by, but for one debt', () => {
    fc.assert(
      fc.property(rates, fc.array(fc.tuple(fc.nat(50), fc.nat(5_000)), { maxLength: 200 }), (rate, asked) => {
        const bucket = new TokenBucket(rate, 0)
        let now = 0
        let given = 0
        for (const [units, later] of asked) {
          now += later
          if (bucket.take(units, now) === 0) given += units
        }
        const overdraft = Math.max(0, 50 - rate.burst)
        expect(given).toBeLessThanOrEqual(rate.burst + overdraft + (now * rate.unitsPerMinute) / 60_000)
      }),
    )
  })

  it('is full again exactly after it has lain still for long enough', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 1_000 }), (rate, units) => {
        const bucket = new TokenBucket(rate, 0)
        bucket.take(Math.min(units, rate.burst), 0)
        const fills = Math.ceil((Math.min(units, rate.burst) * 60_000) / rate.unitsPerMinute)
        expect(bucket.isFull(fills - 1)).toBe(false)
        expect(bucket.isFull(fills)).toBe(true)
      }),
    )
  })
})
