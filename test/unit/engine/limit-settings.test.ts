/** BQ-189, BQ-167: limits are settings like others. */
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../src/engine/config.ts'
import { resolveLimits } from '../../../src/engine/limit-settings.ts'

const DEFAULTS = { enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50 }

describe('settings of limits', () => {
  it('have the numbers of BQ-189 and BQ-167 by default', () => {
    expect(resolveLimits(undefined, {}, undefined)).toEqual(DEFAULTS)
  })

  it('come from the options, else the environment, else the file, each on its own', () => {
    const environment = { QUERENT_LIMITS: 'off', QUERENT_LIMITS_BURST: '40', QUERENT_LIMITS_SUBSCRIPTIONS: '7' }
    const file = { burst: 50, units_per_minute: 60, subscriptions: 9 }
    expect(resolveLimits({ burst: 30 }, environment, file)).toEqual({
      enabled: false,
      unitsPerMinute: 60,
      burst: 30,
      subscriptions: 7,
    })
    expect(resolveLimits({ enabled: true }, environment).enabled).toBe(true)
  })

  it('bound live queries too (BQ-167)', () => {
    expect(resolveConfig({ limits: { subscriptions: 3 } }, null, {}).live.mostPerViewer).toBe(3)
    expect(resolveConfig({}, null, { QUERENT_LIMITS_SUBSCRIPTIONS: '4' }).live.mostPerViewer).toBe(4)
  })

  it.each<[string, () => unknown]>([
    ['limits: burst', () => resolveLimits({ burst: 0 }, {})],
    ['limits: units_per_minute', () => resolveLimits({ unitsPerMinute: 1.5 }, {})],
    ['QUERENT_LIMITS', () => resolveLimits({}, { QUERENT_LIMITS: 'never' })],
    ['QUERENT_LIMITS_BURST', () => resolveLimits({}, { QUERENT_LIMITS_BURST: 'many' })],
    ['QUERENT_LIMITS_UNITS_PER_MINUTE', () => resolveLimits({}, { QUERENT_LIMITS_UNITS_PER_MINUTE: '0' })],
  ])('are refused by name: %s', (field, resolve) => {
    expect(resolve).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(resolve).toThrow(field)
  })
})
