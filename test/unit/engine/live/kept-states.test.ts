/** States kept in memory for tokens that cannot hold them: as they were after each of the last events. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Told } from '../../../../src/engine/live/difference.ts'
import { type KeptFor, KeptStates, MOST_EVENTS_SINCE } from '../../../../src/engine/live/kept-states.ts'

const told = (key: string, version: string): Told => {
  return { key, id: key, version, standing: '', score: 0, rank: key.charCodeAt(0), fields: null }
}

const S: KeptFor = { subscription: 's', requester: 'ann' }

it('gives back every state that it has seen', () => {
  const change = fc.record({ key: fc.constantFrom(...'abcd'), version: fc.option(fc.constantFrom('1', '2', '3')) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), changes => {
      const kept = new KeptStates()
      const state = new Map([['b', told('b', '0')]])
      kept.keep(S, { items: [...state.values()], asOf: 0 })
      const seen = [{ items: [...state.values()], asOf: 0 }]
      for (const [at, { key, version }] of changes.entries()) {
        const after = version === null ? null : told(key, version)
        kept.changed('s', key, after, at + 1)
        if (after === null) state.delete(key)
        else state.set(key, after)
        seen.push({ items: [...state.values()].sort((a, b) => a.rank - b.rank), asOf: at + 1 })
      }
      for (const [at, expected] of seen.entries()) {
        expect(kept.stateBefore('s', changes.length - at)).toEqual(expected)
      }
      expect(kept.stateBefore('s', changes.length + 1)).toBe(null)
      expect(kept.stateBefore('s', -1)).toBe(null)
      expect(kept.stateBefore('other', 0)).toBe(null)
    }),
  )
})

it('goes back a thousand events and no further', () => {
  const kept = new KeptStates()
  kept.keep(S, { items: [], asOf: 0 })
  for (let at = 0; at < MOST_EVENTS_SINCE + 10; at++) kept.changed('s', 'a', told('a', String(at)), at)
  expect(kept.stateBefore('s', MOST_EVENTS_SINCE)?.items).toMatchObject([{ version: '9' }])
  expect(kept.stateBefore('s', MOST_EVENTS_SINCE + 1)).toBe(null)
})

it('however much one requester has here, the states of another stay', () => {
  const kept = new KeptStates()
  const state = { items: [told('a', '1')], asOf: 0 }
  const mine = Array.from({ length: 3 }, (_, at) => ({ subscription: `mine ${at}`, requester: 'ann' }))
  for (const each of mine) {
    kept.delivered(each, 1)
    kept.keep(each, state)
  }
  for (let at = 0; at < 20_000; at++) {
    const each = { subscription: `other ${at}`, requester: 'bob' }
    kept.delivered(each, 1)
    if (at % 20 === 0) kept.keep(each, state)
  }
  expect(mine.map(({ subscription }) => kept.progressOf(subscription)?.seq)).toEqual([1, 1, 1])
  expect(mine.map(({ subscription }) => kept.stateBefore(subscription, 0)?.items.length)).toEqual([1, 1, 1])
  // It is the one who has most who loses, his oldest first.
  expect([kept.progressOf('other 0'), kept.progressOf('other 19999')]).toEqual([null, { seq: 1, left: null }])
  expect([kept.isKept('other 0'), kept.isKept('other 19980')]).toEqual([false, true])
})
