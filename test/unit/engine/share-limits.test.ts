import { expect, it } from 'vitest'
import { shareOf } from '../../../src/engine/options.ts'

const WHOLE = {
  ...{ enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50, streams: 16 },
  ...{ bytesPerViewer: 1000, questionsPerDay: 10, alikePerHour: null },
}

it('all shares together are no more than the whole', () => {
  expect(shareOf(WHOLE, 1)).toEqual(WHOLE)
  expect(shareOf(WHOLE, 4)).toEqual({
    ...{ enabled: true, unitsPerMinute: 50, burst: 8, subscriptions: 12, streams: 4 },
    ...{ bytesPerViewer: 1000, questionsPerDay: 2, alikePerHour: null },
  })
})

it('nobody is shut out where there are more processes than units', () => {
  expect(shareOf({ ...WHOLE, alikePerHour: 3 }, 64)).toMatchObject({ burst: 1, streams: 1, alikePerHour: 1 })
  expect(shareOf({ ...WHOLE, enabled: false }, 2).enabled).toBe(false)
})
