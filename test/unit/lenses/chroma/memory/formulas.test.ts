import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ascends,
  combine,
  decayedStrength,
  gainOf,
  healthOf,
  isModeName,
  MODE_NAMES,
  MODES,
  rawStrength,
  recencyOf,
  reinforced,
  relevanceOf,
  rots,
  strengthNorm,
  weightsOf,
} from '../../../../../src/lenses/chroma/memory/formulas.ts'
import { defaultMemory } from '../../../../../src/lenses/chroma/tables.ts'
import { DAY, START } from './world.ts'

const { Adaptive, Eidetic } = MODES

describe('the modes (CQ-048)', () => {
  const values = (key: keyof typeof Adaptive) => MODE_NAMES.map(name => MODES[name][key])

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

describe('the signals', () => {
  it('recency falls with the days since the last access and never exceeds 1 (CQ-049)', () => {
    expect(recencyOf(Adaptive, START, START + 3 * DAY)).toBe(0.36787944117144233)
    expect(recencyOf(Adaptive, START, START - 5 * DAY)).toBe(1)
  })

  it('relevance falls with the distance, alike in every mode (CQ-050)', () => {
    expect(relevanceOf(10)).toBe(0.6065306597126334)
    expect(relevanceOf(0)).toBe(1)
  })

  it('strength counts for a half at 5 (CQ-051)', () => {
    expect(strengthNorm(2.5)).toBe(0.3333333333333333)
    expect([0, 5, 100].map(strengthNorm)).toEqual([0, 0.5, 100 / 105])
    expect(strengthNorm(rawStrength(0.8))).toBeCloseTo(0.8, 14)
  })

  it('score is their weighted sum and stays in 0..1 (CQ-052)', () => {
    const { relevance: wRel, recency: wRec, strength: wStr } = weightsOf(Adaptive)
    expect(combine(wRel, wRec, wStr, 1, 1, 0.5)).toBeCloseTo(0.9, 15)
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(part, part, part, part, part, (relevance, recency, strength_norm, first, rest) => {
        const [recencyWeight, strengthWeight] = [(1 - first) * rest, (1 - first) * (1 - rest)]
        const score = combine(first, recencyWeight, strengthWeight, relevance, recency, strength_norm)
        expect(score >= 0 && score <= 1).toBe(true)
      }),
    )
  })

  it('weights that take relevance alone switch memory off (CQ-053)', () => {
    const relevance = relevanceOf(17)
    expect(combine(1, 0, 0, relevance, 0.9, 0.9)).toBe(relevance)
  })
})

describe('a use', () => {
  it('adds the mode’s hit, more while the node is recent (CQ-067)', () => {
    expect(gainOf(Adaptive, 1)).toBe(0.2)
    expect(gainOf(Adaptive, 0.5)).toBe(0.1)
    expect(gainOf(Adaptive, 0.7)).toBeCloseTo(0.17, 15)
    expect(gainOf(Eidetic, 0.6)).toBeCloseTo(0.12 * 1.6, 15)
  })

  it('takes the recency from before it, and never moves the last access back (CQ-066, CQ-067)', () => {
    const before = { ...defaultMemory(START), strength_raw: 1 }
    const after = reinforced(before, Adaptive, START + 3 * DAY)
    expect(after).toEqual({ ...before, last_accessed: START + 3 * DAY, access_count: 1, strength_raw: 1.1, version: 1 })
    expect(reinforced(after, Adaptive, START).last_accessed).toBe(START + 3 * DAY)
  })

  it('gives an ascended node no strength, and rescues a rotten one (CQ-068)', () => {
    const ascended = { ...defaultMemory(START), strength_raw: 30, ascension: true }
    expect(reinforced(ascended, Adaptive, START + 5)).toMatchObject({
      strength_raw: 30,
      access_count: 1,
      last_accessed: START + 5,
      ascension: true,
    })
    const rotten = { ...defaultMemory(START), rotten: true }
    expect(reinforced(rotten, Adaptive, START)).toMatchObject({ rotten: false, strength_raw: 0.2 })
  })

  it('adds no strength where memory is switched off, and leaves health to the cycle (CQ-054, CQ-069)', () => {
    const before = { ...defaultMemory(START), decay_health: 0.4 }
    const after = reinforced(before, Adaptive, START + 9, false)
    expect(after).toMatchObject({ last_accessed: START + 9, access_count: 1, strength_raw: 0, decay_health: 0.4 })
  })
})

describe('time', () => {
  it('takes strength by the mode’s rate (CQ-135) and health by a closed form (CQ-136)', () => {
    expect(decayedStrength(Adaptive, 10, 10 * DAY)).toBeCloseTo(6.376281516217733, 14)
    expect(decayedStrength(Adaptive, 10, -5)).toBe(10)
    expect(healthOf(Adaptive, START, START + 10 * DAY)).toBe(0.8948393168143698)
    expect(healthOf(Adaptive, START, START - DAY)).toBe(1)
  })

  it('lets ascend from the threshold on (CQ-139)', () => {
    expect(ascends(Adaptive, 20)).toBe(true)
    expect(ascends(Adaptive, 19.999)).toBe(false)
  })

  it('lets rot what is at or below both thresholds (CQ-140)', () => {
    expect(rots(Adaptive, START, 0, START + 10.5 * DAY)).toBe(false)
    expect(rots(Adaptive, START, 0, START + 10.6 * DAY)).toBe(true)
    expect(rots(Adaptive, START, 1, START + 10.6 * DAY)).toBe(false)
    expect(rots(Eidetic, START, 0, START + 1000 * DAY)).toBe(false)
  })
})
