/** In which order messages were said. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SaidAt, saidOrder } from '../../../../../src/lenses/conversations/asking/said-order.ts'

const said = (thread: string, position: number, at: number | null): SaidAt => ({ thread, position, at })

describe('the order in which messages were said', () => {
  it.each<[string, readonly SaidAt[], readonly number[]]>([
    ['is that of their times', [said('a', 0, 30), said('a', 1, 10), said('b', 0, 20)], [1, 2, 0]],
    ['of one moment is that of their places', [said('a', 2, 10), said('a', 1, 10)], [1, 0]],
    ['of one moment takes threads as they are listed', [said('b', 5, 10), said('a', 0, 10)], [0, 1]],
    [
      'takes what has no time with the one before it',
      [said('a', 1, null), said('a', 2, 30), said('b', 0, 20), said('a', 0, 10)],
      [3, 0, 2, 1],
    ],
    [
      'takes what has none before it with the one after it',
      [said('a', 1, 20), said('b', 0, 10), said('a', 0, null)],
      [1, 2, 0],
    ],
    ['puts threads without a time last', [said('a', 0, null), said('b', 0, 10), said('a', 1, null)], [1, 0, 2]],
  ])('%s', (_, messages, places) => {
    expect(saidOrder(messages)).toEqual(places)
  })

  it('has each of them once', () => {
    const message = fc.record({
      thread: fc.constantFrom('a', 'b', 'c'),
      position: fc.nat(9),
      at: fc.option(fc.nat(5)),
    })
    fc.assert(
      fc.property(fc.array(message), messages => {
        expect([...saidOrder(messages)].sort((a, b) => a - b)).toEqual([...messages.keys()])
      }),
    )
  })
})
