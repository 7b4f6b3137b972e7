import { describe, expect, it } from 'vitest'
import { isModeName, MODE_NAMES, MODES } from '../../../../../src/lenses/chroma/memory/formulas.ts'

describe('the modes (CQ-048)', () => {
  const values = (key: keyof (typeof MODES)['Adaptive']) => MODE_NAMES.map(name => MODES[name][key])

  it('are four, with thirteen parameters each', () => {
    expect(MODE_NAMES).toEqual(['Sparse', 'Adaptive', 'Spacey', 'Eidetic'])
    for (const name of MODE_NAMES) expect(Object.keys(MODES[name])).toHaveLength(13)
    expect(['Adaptive', 'adaptive', '', null, 3].map(isModeName)).toEqual([true, false, false, false, false])
  })

  it('have the published values', () => {
    expect(values('tau_rec_days')).toEqual([1.5, 3, 2, 7])
    expect(values('tau_decay_days')).toEqual([60, 90, 60, 120])
    expect(values('strength_hit')).toEqual([0.06, 0.1, 0.1, 0.12])
    expect(values('strength_decay_per_day')).toEqual([0.15, 0.05, 0.08, 0.02])
    expect(values('recency_bonus_threshold')).toEqual([0.7, 0.7, 0.7, 0.6])
    expect(values('recency_bonus_gain')).toEqual([1, 1, 1, 1])
    expect(values('ascension_norm')).toEqual([0.85, 0.8, 0.85, 0.9])
    expect(values('rot_recency_min')).toEqual([0.05, 0.03, 0.05, null])
    expect(values('rot_strength_min')).toEqual([0.2, 0.15, 0.25, null])
    expect(values('relevance_decay_protect')).toEqual([0.3, 0.2, 0.2, 0.1])
    expect(values('w_rel')).toEqual([0.6, 0.5, 0.5, 0.4])
    expect(values('w_rec')).toEqual([0.3, 0.3, 0.2, 0.2])
    expect(values('w_str')).toEqual([0.1, 0.2, 0.3, 0.4])
  })
})
