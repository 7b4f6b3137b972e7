/** How often a node is asked for changes, and when no longer. Time is moved by hand. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Watch } from '../../../../../src/lenses/beliefs/nodes/notices/watches.ts'
import { TransportFailure } from '../../../../../src/pipeline/transport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** `answer`: what the node says to question number so many, from 1. */
function watching(answer: (number: number) => string | Error) {
  const reported: (string | null)[] = []
  const state = { asked: 0, atOnce: 0, isNeeded: true, hasEnded: false }
  const watch = new Watch('first', {
    next: async (_, atOnce) => {
      state.asked++
      state.atOnce += Number(atOnce)
      const said = answer(state.asked)
      if (said instanceof Error) throw said
      return said
    },
    isNeeded: () => state.isNeeded,
    changed: seen => reported.push(seen),
    ended: () => {
      state.hasEnded = true
    },
  })
  return { watch, reported, state }
}

it('asks a node that answers at once no more than once a second, and tells each state once', async () => {
  const { watch, reported, state } = watching(number => `state ${Math.floor(number / 5)}`)
  await vi.advanceTimersByTimeAsync(10_500)
  expect(state.asked).toBe(11)
  expect(reported).toEqual(['state 0', 'state 1', 'state 2'])
  watch.stop()
  await vi.advanceTimersByTimeAsync(5_000)
  expect([state.asked, state.hasEnded]).toEqual([11, true])
})

it('tries a node that is away ever more seldom, and when it is back says that anything may be otherwise', async () => {
  const { reported, state } = watching(number => (number <= 4 ? new TransportFailure('unreachable', 'away') : 'first'))
  await vi.advanceTimersByTimeAsync(14_000)
  expect([state.asked, reported]).toEqual([4, []])
  await vi.advanceTimersByTimeAsync(1_500)
  expect([state.asked, state.atOnce, reported]).toEqual([5, 4, [null]])
})

it('asks a node no more that refuses the requester', async () => {
  const { reported, state } = watching(() => new TransportFailure('refused', 'no', { status: 403 }))
  await vi.advanceTimersByTimeAsync(120_000)
  expect([state.asked, state.hasEnded, reported]).toEqual([1, true, [null]])
})

it('ends when nobody needs it, and tells of no state that came in another way', async () => {
  const { watch, reported, state } = watching(() => 'second')
  watch.saw('second')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(reported).toEqual([])
  state.isNeeded = false
  await vi.advanceTimersByTimeAsync(3_000)
  expect(state.hasEnded).toBe(true)
})

it('tells of a state that it knew before, where an older one came in another way meanwhile', async () => {
  const { watch, reported } = watching(() => 'first')
  await vi.advanceTimersByTimeAsync(500)
  expect(watch.saw('older')).toBe(true)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(reported).toEqual(['first'])
  watch.stop()
})
