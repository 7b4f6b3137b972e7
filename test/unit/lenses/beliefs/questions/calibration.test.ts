/** BQ-040: thresholds of meaning, by model. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { modelKey } from '../../../../../src/embed/embedder.ts'
import { openLocalEmbedder } from '../../../../../src/embed/local-embedder.ts'
import { checkSettings, DEFAULTS } from '../../../../../src/lenses/beliefs/beliefs-settings.ts'
import {
  calibrate,
  SHIPPED,
  SHIPPED_PAIRS,
  thresholdOf,
  thresholdsOf,
} from '../../../../../src/lenses/beliefs/query/understand.ts'
import { modelFolder } from '../../../../support/model.ts'
import { openAskingWorld } from './world.ts'

const signal = new AbortController().signal

describe('BQ-040: calibration', () => {
  it('goes by a list of pairs that says nothing twice', () => {
    const pairs = SHIPPED_PAIRS.flatMap(({ text, related, unrelated }) =>
      [...related, ...unrelated].map(term => `${text} ${term}`),
    )
    expect(pairs.length).toBeGreaterThanOrEqual(200)
    expect(new Set(pairs).size).toBe(pairs.length)
  })

  it('lets at most one in twenty unrelated pairs through, and no fewer than it may', () => {
    const cosine = fc.integer({ min: -900, max: 900 }).map(value => value / 1000)
    fc.assert(
      fc.property(fc.uniqueArray(cosine, { minLength: 1, maxLength: 200 }), values => {
        const threshold = thresholdOf(values)
        const allowed = Math.floor(values.length * 0.05)
        expect(values.filter(value => value >= threshold).length).toBeLessThanOrEqual(allowed)
        expect(values.filter(value => value >= threshold - 0.0011).length).toBeGreaterThan(allowed)
      }),
    )
  })

  it('gives for the model that comes along what is shipped', async () => {
    const embedder = await openLocalEmbedder({ folder: modelFolder() })
    const key = modelKey(embedder.model)
    const shipped = SHIPPED.get(key)
    const found = await calibrate(embedder, signal)
    await embedder.close()
    expect(shipped).toBeDefined()
    if (shipped === undefined) return
    expect(found).toMatchObject({ relatedPairs: shipped.relatedPairs, unrelatedPairs: shipped.unrelatedPairs })
    // Processors round differently.
    expect(Math.abs(found.threshold - shipped.threshold)).toBeLessThanOrEqual(0.01)
    expect(Math.abs(found.relatedPassed - shipped.relatedPassed)).toBeLessThanOrEqual(2)
    expect(found.unrelatedPassed / found.unrelatedPairs).toBeLessThanOrEqual(0.05)
    expect(found.relatedPassed / found.relatedPairs).toBeGreaterThanOrEqual(0.9)
    expect(thresholdsOf(DEFAULTS, key)).toEqual({
      ...{ include: shipped.threshold, exclude: shipped.threshold, floor: shipped.threshold },
    })
    const set = (floor: object) => checkSettings({ thresholds: { [key]: { include: 0.3, exclude: 0.5, ...floor } } })
    expect(thresholdsOf(set({}), key)).toEqual({ include: 0.3, exclude: 0.5, floor: shipped.threshold })
    expect(thresholdsOf(set({ floor: 0.2 }), key)).toEqual({ include: 0.3, exclude: 0.5, floor: 0.2 })
    expect(thresholdsOf(DEFAULTS, 'another@0')).toBeNull()
  })
})

describe('beliefs.diagnostics', () => {
  it('re-runs the calibration and tells the counters, to the owner alone', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { content: 'Rain is wet.' })
    await world.call('beliefs.query', { semantic: 'rain' })
    await world.call('beliefs.query', { semantic: 'sun' }, 'bob')
    await expect(world.call('beliefs.query', { semantic: '' })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    await expect(world.call('beliefs.diagnostics', {})).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    const { calibration, counters } = await world.call('beliefs.diagnostics', {}, 'owner')
    expect(calibration).toMatchObject({ model: 'toy@toy', in_use: null, from: 'nothing', shipped: null })
    expect(calibration.rerun).toMatchObject({ related_pairs: 144, unrelated_pairs: 192 })
    expect(calibration.rerun.unrelated_passed).toBeLessThanOrEqual(9)
    expect(counters).toMatchObject({
      queries_total: 2,
      results_returned: 1,
      errors_by_code: { INVALID_QUERY: 1, UNAUTHORIZED: 1 },
    })
    const quick = await world.call('beliefs.diagnostics', { calibrate: false }, 'owner')
    expect(quick.calibration.rerun).toBeNull()
  })

  it('says which model has no thresholds where a query needs one', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { content: 'A car.' })
    const { warnings } = await world.call('beliefs.query', { semantic: 'a +automobile' })
    expect(warnings).toEqual([{ code: 'not_calibrated', message: expect.stringContaining('toy') }])
    const set = await openAskingWorld({ settings: { thresholds: { 'toy@toy': { include: 0.5, floor: -1 } } } })
    await set.put('ann', { content: 'A car.' })
    const answer = await set.call('beliefs.query', { semantic: 'a +automobile' })
    expect(answer).toMatchObject({ total_count: 1, warnings: [] })
  })
})
