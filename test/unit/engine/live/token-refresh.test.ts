/** When tokens are given to one who hears nothing else: never twice at once, whatever is asked of it meanwhile. */
import { expect, it } from 'vitest'
import { TokenRefresh } from '../../../../src/engine/live/resume-token.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'

const MINUTE = 60_000

function begun(): {
  readonly timers: ManualTimers
  readonly given: number[]
  readonly taker: { idle: boolean; gate: PromiseWithResolvers<void> | null }
  readonly refresh: TokenRefresh
} {
  const timers = new ManualTimers()
  const given: number[] = []
  const taker = { idle: true, gate: null as PromiseWithResolvers<void> | null }
  const refresh = new TokenRefresh(timers, {
    wanted: () => taker.gate?.promise ?? null,
    isIdle: () => taker.idle,
    give: () => void given.push(timers.now()),
  })
  return { timers, given, taker, refresh }
}

it('one a minute after the last that was told, and at once where that is asked for', async () => {
  const { timers, given, refresh } = begun()
  await timers.pass(40_000)
  refresh.told()
  await timers.pass(MINUTE)
  refresh.soon()
  await timers.pass(1)
  await timers.pass(2 * MINUTE)
  expect(given).toEqual([100_000, 100_001, 160_001, 220_001])
  refresh.stop()
  expect(timers.waiting).toBe(0)
})

it('one that nobody takes waits, once, and others ask in vain for a second', async () => {
  const { timers, given, taker, refresh } = begun()
  taker.gate = Promise.withResolvers()
  await timers.pass(5 * MINUTE)
  refresh.soon()
  await timers.pass(MINUTE)
  const { gate } = taker
  taker.gate = null
  gate.resolve()
  await timers.settle()
  expect([given, timers.waiting]).toEqual([[6 * MINUTE], 1])
  await timers.pass(10 * MINUTE)
  expect(given.length).toBe(11)
  refresh.stop()
})

it('none where something else is on its way, nor after its end, nor a wake-up each moment meanwhile', async () => {
  const { timers, given, taker, refresh } = begun()
  taker.idle = false
  await timers.pass(10 * MINUTE)
  expect([given, timers.waiting]).toEqual([[], 1])
  taker.idle = true
  taker.gate = Promise.withResolvers()
  await timers.pass(MINUTE)
  refresh.stop()
  taker.gate.resolve()
  taker.gate = null
  refresh.soon()
  await timers.pass(MINUTE)
  expect([given, timers.waiting]).toEqual([[], 0])
})
