/** A bounded map shared by many: who has most loses. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FairRecent } from '../../../src/base/fair-recent.ts'

it('drops what was asked for longest ago of the one who has most', () => {
  const map = new FairRecent<string, number>(3)
  map.set('a1', 'ann', 1)
  map.set('b1', 'bob', 2)
  map.set('a2', 'ann', 3)
  expect(map.find('a1')).toBe(1)
  map.set('b2', 'bob', 4)
  // Both had two: of those the one who has asked for nothing for longest.
  expect(['a1', 'a2', 'b1', 'b2'].map(key => map.find(key))).toEqual([1, undefined, 2, 4])
  map.forget('b1')
  map.set('a1', 'cyd', 5)
  expect([map.size, map.find('a1'), map.find('b1')]).toEqual([2, 5, undefined])
})

it('whatever comes: nobody loses anything who has no more than an even share', () => {
  const step = fc.record({
    owner: fc.constantFrom('ann', 'bob', 'cyd'),
    key: fc.nat({ max: 8 }),
    do: fc.constantFrom('set', 'set', 'find', 'forget'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 3, max: 12 }), (steps, capacity) => {
      const map = new FairRecent<string, number>(capacity)
      const all = new Map<string, string>()
      for (const [at, { owner, key, do: what }] of steps.entries()) {
        const name = `${owner} ${key}`
        if (what === 'find') map.find(name)
        else if (what === 'forget') {
          map.forget(name)
          all.delete(name)
        } else {
          map.set(name, owner, at)
          all.set(name, owner)
          expect(map.find(name)).toBe(at)
        }
        const held = [...all].filter(([known]) => map.find(known) !== undefined)
        expect(map.size).toBe(held.length)
        expect(held.length).toBe(Math.min(capacity, held.length))
        for (const [known, by] of all) {
          if (held.some(([other]) => other === known)) continue
          expect(held.filter(([, other]) => other === by).length).toBeGreaterThanOrEqual(Math.floor(capacity / 3))
          all.delete(known)
        }
      }
    }),
  )
})
