import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RequesterLimits } from '../../../src/identity/limits.ts'
import { Places, UNLIMITED } from '../../../src/identity/rates.ts'

const KEYS = ['did:key:z6MkA', 'did:key:z6MkB']

it('each requester has so many places at a time; keys that are no agent here share theirs', () => {
  const act = fc.record({ who: fc.constantFrom('ann', 'bob', ...KEYS), free: fc.nat({ max: 9 }), opens: fc.boolean() })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), acts => {
      const limits = new Places(3, 'streams')
      const open: { whose: string; free: () => void }[] = []
      for (const { who, free, opens } of acts) {
        const whose = KEYS.includes(who) ? 'keys' : who
        const held = open.filter(one => one.whose === whose).length
        if (!opens) {
          const [ended] = open.splice(free, 1)
          ended?.free()
          // To give it back again changes nothing.
          ended?.free()
        } else if (held < 3) {
          open.push({ whose, free: limits.take(who) })
        } else {
          expect(() => limits.take(who)).toThrow(
            expect.objectContaining({ code: 'rate_limited', details: { limit: 3 } }),
          )
        }
        expect(limits.size).toBe(open.length)
      }
    }),
  )
})

it('is among the limits of requesters, and not where there are none', () => {
  const rate = { unitsPerMinute: 60, burst: 1 }
  const limits = new RequesterLimits(rate, () => 0, { streams: new Places(1, 'streams') })
  const free = limits.stream('ann')
  expect(() => limits.stream('ann')).toThrow('at most 1 streams')
  free()
  expect(() => limits.stream('ann')).not.toThrow()
  for (const none of [UNLIMITED, new RequesterLimits(rate, () => 0)]) {
    for (let at = 0; at < 99; at++) none.stream('ann')
  }
})

it('who is unlimited takes places all the same', () => {
  const places = new Places(1, 'watches')
  const frees = Array.from({ length: 3 }, () => places.take('ann', true))
  expect(places.size).toBe(3)
  expect(() => places.take('ann')).toThrow('at most 1 watches at a time')
  for (const free of frees) free()
  expect(() => places.take('ann')).not.toThrow()
})
