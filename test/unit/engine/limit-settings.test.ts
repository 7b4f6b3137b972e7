/** BQ-189, BQ-167: limits are settings like others. */
import { describe, expect, it } from 'vitest'
import { resolveConfig, resolveLimits } from '../../../src/engine/options.ts'

const ANY_NUMBER = { bytesPerViewer: 100 * 1024 * 1024, questionsPerDay: null, alikePerHour: null }
const DEFAULTS = { enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50, streams: 16, ...ANY_NUMBER }

describe('settings of limits', () => {
  it('have the numbers of BQ-189 and BQ-167 by default', () => {
    expect(resolveLimits(undefined, {}, undefined)).toEqual(DEFAULTS)
  })

  it('come from the options, else the environment, else the file, each on its own', () => {
    const environment = {
      QUERENT_LIMITS: 'off',
      QUERENT_LIMITS_BURST: '40',
      QUERENT_LIMITS_SUBSCRIPTIONS: '7',
      QUERENT_LIMITS_STREAMS: '5',
    }
    const file = { burst: 50, units_per_minute: 60, subscriptions: 9 }
    expect(resolveLimits({ burst: 30 }, environment, file)).toEqual({
      enabled: false,
      unitsPerMinute: 60,
      burst: 30,
      subscriptions: 7,
      streams: 5,
      ...ANY_NUMBER,
    })
    expect(resolveLimits({ enabled: true }, environment).enabled).toBe(true)
  })

  it('bound different questions where they say so, and only there (BQ-193)', () => {
    const environment = { QUERENT_LIMITS_QUESTIONS_PER_DAY: '500' }
    expect(resolveLimits({}, environment, { questions_per_day: 9, alike_per_hour: 30 })).toEqual({
      ...{ ...DEFAULTS, questionsPerDay: 500, alikePerHour: 30 },
    })
    expect(resolveLimits({ questionsPerDay: 7 }, environment).questionsPerDay).toBe(7)
    expect(resolveLimits({}, { QUERENT_LIMITS_ALIKE_PER_HOUR: '8' }).alikePerHour).toBe(8)
  })

  it('bound live queries too (BQ-167)', () => {
    expect(resolveConfig({ limits: { subscriptions: 3 } }, null, {}).live.mostPerViewer).toBe(3)
    expect(resolveConfig({}, null, { QUERENT_LIMITS_SUBSCRIPTIONS: '4' }).live.mostPerViewer).toBe(4)
  })

  it.each<[string, () => unknown]>([
    ['limits: burst', () => resolveLimits({ burst: 0 }, {})],
    ['limits: streams', () => resolveLimits({ streams: 0 }, {})],
    ['limits: units_per_minute', () => resolveLimits({ unitsPerMinute: 1.5 }, {})],
    ['limits: questions_per_day', () => resolveLimits({ questionsPerDay: 100_001 }, {})],
    ['QUERENT_LIMITS_ALIKE_PER_HOUR', () => resolveLimits({}, { QUERENT_LIMITS_ALIKE_PER_HOUR: '0' })],
    ['QUERENT_LIMITS', () => resolveLimits({}, { QUERENT_LIMITS: 'never' })],
    ['limits: bytes_per_viewer', () => resolveLimits({ bytesPerViewer: -1 }, {})],
    ['QUERENT_LIMITS_BYTES_PER_VIEWER', () => resolveLimits({}, { QUERENT_LIMITS_BYTES_PER_VIEWER: '1 MB' })],
    ['QUERENT_LIMITS_BURST', () => resolveLimits({}, { QUERENT_LIMITS_BURST: 'many' })],
    ['QUERENT_LIMITS_UNITS_PER_MINUTE', () => resolveLimits({}, { QUERENT_LIMITS_UNITS_PER_MINUTE: '0' })],
  ])('are refused by name: %s', (field, resolve) => {
    expect(resolve).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(resolve).toThrow(field)
  })
})
