import { expect, it } from 'vitest'
import { Breaker } from '../../../../../src/lenses/beliefs/nodes/asking/node-book.ts'

function failedTimes(count: number, breaker = new Breaker()): Breaker {
  for (let time = 0; time < count; time++) {
    breaker.mayAsk(0)
    breaker.failed(0)
  }
  return breaker
}

it('is asked until it has failed three times in a row', () => {
  const breaker = failedTimes(2)
  expect([breaker.stateAt(0), breaker.mayAsk(0)]).toEqual(['closed', true])
  breaker.succeeded()
  failedTimes(2, breaker)
  expect(breaker.mayAsk(0)).toBe(true)
  breaker.failed(0)
  expect([breaker.stateAt(0), breaker.mayAsk(0), breaker.restMsAt(0)]).toEqual(['open', false, 1_000])
})

it('is tried by one when its rest is over, and rests twice as long when that fails, a minute at most', () => {
  const breaker = failedTimes(3)
  let now = 0
  for (const rest of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    expect(breaker.restMsAt(now)).toBe(rest)
    now += rest
    expect([breaker.stateAt(now), breaker.mayAsk(now), breaker.mayAsk(now)]).toEqual(['half_open', true, false])
    breaker.failed(now)
  }
  now += 60_000
  breaker.mayAsk(now)
  breaker.succeeded()
  expect([breaker.stateAt(now), breaker.mayAsk(now), breaker.failures]).toEqual(['closed', true, 0])
})

it('is tried again by the next where the one who tried gave up', () => {
  const breaker = failedTimes(3)
  expect([breaker.mayAsk(1_000), breaker.mayAsk(1_000)]).toEqual([true, false])
  breaker.gaveUp()
  expect(breaker.mayAsk(1_000)).toBe(true)
})
