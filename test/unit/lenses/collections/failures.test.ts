import { describe, expect, it } from 'vitest'
import { ChromaQueryError } from '../../../../src/lenses/collections/errors.ts'
import { ask, recordOf, sourceOf } from './world.ts'

describe('what fails', () => {
  const items = { records: [recordOf('a', 0.1)] }
  const broken = (code: 'timeout' | 'unreachable' | 'dimension_mismatch', message: string) => ({
    records: [],
    error: { code, message },
  })

  it('is skipped with a warning while others answer (CO-005, CO-024)', async () => {
    const { results, warnings } = await ask(sourceOf({ items, analysis: broken('timeout', 'analysis: too slow') }))
    expect(results.length).toBe(1)
    expect(warnings).toEqual([
      { collection: 'analysis', code: 'query_failed', message: 'analysis: too slow', reason: 'timeout' },
    ])
  })

  it('raises when it is every collection (CO-025)', async () => {
    const source = sourceOf({ items: broken('timeout', 'one'), analysis: broken('timeout', 'two') })
    await expect(ask(source)).rejects.toThrow(ChromaQueryError)
    await expect(ask(source)).rejects.toThrow('every collection failed: one; two')
  })

  it('is told as a store that cannot be opened when nobody answers (CO-023)', async () => {
    const source = sourceOf({ items: broken('unreachable', 'nobody'), analysis: broken('unreachable', 'nobody') })
    await expect(ask(source)).rejects.toThrow(/^Failed to initialize VectorStore: nobody$/)
  })

  it('is no error where a collection does not exist (CO-026, CO-027)', async () => {
    const { results, warnings } = await ask(sourceOf({}))
    expect(results).toEqual([])
    expect(warnings.map(({ collection, code }) => [collection, code])).toEqual([
      ['items', 'collection_not_found'],
      ['analysis', 'collection_not_found'],
    ])
    expect((await ask(sourceOf({ items: broken('timeout', 'slow') }))).results).toEqual([])
  })

  it('names a wrong size (CO-028)', async () => {
    const message = "analysis: its vectors are of 3 dimensions, the question's has 2"
    const { warnings } = await ask(sourceOf({ items, analysis: broken('dimension_mismatch', message) }))
    expect(warnings).toMatchObject([{ code: 'dimension_mismatch', message }])
  })

  it('keeps the formula and warns where vectors have another length (CO-009)', async () => {
    const source = (deviation: number) =>
      sourceOf({ items: { records: [recordOf('a', 0.16)], space: 'l2', deviation } })
    const far = await ask(source(0.02), { collections: ['items'] })
    expect(far.results[0]?.score).toBe(0.92)
    expect(far.warnings.map(({ code }) => code)).toEqual(['not_normalised'])
    expect((await ask(source(0.009), { collections: ['items'] })).warnings).toEqual([])
  })
})
