/** The lens's part of the configuration. */
import { describe, expect, it } from 'vitest'
import { checkSettings, DEFAULTS } from '../../../../src/lenses/beliefs/beliefs-settings.ts'
import { decayRate } from '../../../../src/lenses/beliefs/measures/confidence.ts'

describe('settings', () => {
  it('are those of the specification where nothing is said (BQ-019, BQ-071, BQ-075, BQ-076)', () => {
    expect(checkSettings(undefined)).toEqual(DEFAULTS)
    expect(checkSettings({})).toMatchObject({
      sybilThreshold: 2,
      sybilCap: 0.3,
      sybilRule: 'first_hops',
      newAgentCap: false,
      defaultTrust: 0.1,
    })
  })

  it('replace or join the rates of decay (BQ-019)', () => {
    const { decay } = checkSettings({ decay: { news: 0.2, 'News:Archive': 0.001, other: 0.05 } })
    expect(['news', 'news/archive', 'science', 'medical'].map(domain => decayRate([domain], [], decay))).toEqual([
      0.2, 0.001, 0.002, 0.05,
    ])
    expect(decayRate(['news'], [], DEFAULTS.decay)).toBe(0.1)
  })

  it('may have thresholds for a model; what shuts out is what takes in unless it is said (BQ-040)', () => {
    const { thresholds } = checkSettings({
      thresholds: { 'm:1': { include: 0.4 }, n: { include: 0.4, exclude: 0.5, floor: 0.2 } },
    })
    expect([...thresholds]).toEqual([
      ['m:1', { include: 0.4, exclude: 0.4, floor: null }],
      ['n', { include: 0.4, exclude: 0.5, floor: 0.2 }],
    ])
  })

  it.each([
    [{ sybil_treshold: 3 }, 'lenses.beliefs.sybil_treshold'],
    [{ sybil_threshold: 0 }, 'lenses.beliefs.sybil_threshold'],
    [{ sybil_threshold: 2.5 }, 'lenses.beliefs.sybil_threshold'],
    [{ sybil_cap: 2 }, 'lenses.beliefs.sybil_cap'],
    [{ sybil_rule: 'none' }, 'lenses.beliefs.sybil_rule'],
    [{ new_agent_cap: 1 }, 'lenses.beliefs.new_agent_cap'],
    [{ default_trust: 0.6 }, 'lenses.beliefs.default_trust'],
    [{ decay: { news: -1 } }, 'lenses.beliefs.decay.news'],
    [{ decay: { 'x y': 1 } }, 'lenses.beliefs.decay.x y'],
    [{ thresholds: { m: { exclude: 0.5 } } }, 'lenses.beliefs.thresholds.m.include'],
    [{ thresholds: { m: { include: 0.5, most: 1 } } }, 'lenses.beliefs.thresholds.m.most'],
    ['fast', 'lenses.beliefs'],
    [{ constructor: 1 }, 'lenses.beliefs.constructor'],
  ])('refuse %j at %s', (given, field) => {
    expect(() => checkSettings(given)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: expect.objectContaining({ field }) }),
    )
  })
})
