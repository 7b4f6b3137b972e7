import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ask, idsOf, NOW, recordOf, sourceOf } from './world.ts'

describe('the day filter', () => {
  const days7 = NOW - 7 * 86_400_000
  const dated = (id: string, date: string | number) => recordOf(id, 0.1, { date })

  it('compares instants in UTC; the cutoff itself is kept, and the future (CO-015, CO-016)', async () => {
    const records = [
      dated('dropped', '2026-02-22T13:00:00+02:00'),
      dated('kept', '2026-02-22T10:00:00-05:00'),
      dated('at', '2026-02-22T12:00:00Z'),
      dated('before', '2026-02-22T11:59:59.999Z'),
      dated('naive', '2026-02-22T12:00:00'),
      dated('midnight', '2026-02-22'),
      dated('day', '2026-02-23'),
      dated('future', '2027-01-01'),
      dated('seconds', days7 / 1000),
      dated('old seconds', days7 / 1000 - 1),
      dated('milliseconds', days7),
    ]
    const answer = await ask(sourceOf({ items: { records } }), { days: 7, nResults: 50 })
    expect(idsOf(answer)).toEqual(['kept', 'at', 'naive', 'day', 'future', 'seconds', 'milliseconds'])
    expect(answer.meta.cutoff).toBe('2026-02-22T12:00:00.000Z')
  })

  it('falls back to analyzed_at where date does not parse (CO-017)', async () => {
    const records = [
      recordOf('analysed', 0.1, { analyzed_at: '2026-02-28' }),
      recordOf('analysed long ago', 0.2, { date: 'soon', analyzed_at: '2025-01-01' }),
      recordOf('date decides', 0.3, { date: '2026-02-28', analyzed_at: '2025-01-01' }),
    ]
    expect(idsOf(await ask(sourceOf({ analysis: { records } }), { days: 7 }))).toEqual(['analysed', 'date decides'])
  })

  it('keeps undated records and counts them, or drops them (CO-018)', async () => {
    const records = [recordOf('none', 0.1), recordOf('nonsense', 0.2, { date: 'soon' }), dated('day', '2026-02-28')]
    const source = sourceOf({ items: { records } })
    const kept = await ask(source, { days: 7, collections: ['items'] })
    expect(idsOf(kept)).toEqual(['none', 'day', 'nonsense'])
    expect(kept.warnings).toMatchObject([{ collection: 'items', code: 'undated_kept', count: 2 }])
    const dropped = await ask(source, { days: 7, undated: 'exclude', collections: ['items'] })
    expect([idsOf(dropped), dropped.warnings]).toEqual([['day'], []])
    expect((await ask(source, { collections: ['items'] })).warnings).toEqual([])
  })

  it('counts the undated records that are in the answer, however many were looked at (CO-018)', async () => {
    const records = Array.from({ length: 30 }, (_, at) => recordOf(`u${at}`, at / 100))
    const counted = async (input: Parameters<typeof ask>[1]) => {
      const answer = await ask(sourceOf({ items: { records } }), {
        days: 7,
        nResults: 5,
        collections: ['items'],
        ...input,
      })
      return [answer.results.length, answer.warnings.map(({ count }) => count)]
    }
    expect(await counted({})).toEqual([5, [5]])
    expect(await counted({ hybrid: true })).toEqual([5, [5]])
    expect(await counted({ minScore: 0.98 })).toEqual([3, [3]])
  })

  it('asks deeper until enough survive or nothing is left (CO-019)', async () => {
    const old = Array.from({ length: 40 }, (_, at) => recordOf(`old${at}`, at / 100, { date: '2020-01-01' }))
    const fresh = Array.from({ length: 4 }, (_, at) => recordOf(`new${at}`, 0.5 + at / 100, { date: '2026-02-28' }))
    const source = sourceOf({ items: { records: [...old, ...fresh] } })
    const answer = await ask(source, { days: 7, nResults: 3, collections: ['items'] })
    expect(idsOf(answer)).toEqual(['new0', 'new1', 'new2'])
    expect(source.asked.map(({ limit }) => limit)).toEqual([3, 6, 12, 24, 48])
    expect(idsOf(await ask(source, { days: 7, nResults: 9, collections: ['items'] })).length).toBe(4)
  })

  it('lets the store filter where it keeps dates as numbers (CO-019)', async () => {
    const at = (id: string, date: string | null, number: number) =>
      recordOf(id, 0.1, { ...(date === null ? {} : { date }), stamp: number })
    const old = Array.from({ length: 40 }, (_, n) => at(`old${n}`, '2020-01-01', 1))
    const records = [...old, at('new', '2026-02-28', Date.parse('2026-02-28')), at('undated', null, 9e15)]
    const numericDate = { key: 'stamp', unit: 'ms', undated: 9e15 } as const
    const source = sourceOf({ items: { records, numericDate } })
    expect(idsOf(await ask(source, { days: 7, nResults: 2, collections: ['items'] }))).toEqual(['new', 'undated'])
    expect(source.asked.length).toBe(2)
    const input = { days: 7, nResults: 2, collections: ['items'], undated: 'exclude' } as const
    expect(idsOf(await ask(source, input))).toEqual(['new'])
  })

  it('takes a beginning and an end; a whole day as an end is included (CO-030)', async () => {
    const records = ['2026-02-01', '2026-02-10T23:59:00Z', '2026-02-11', '2026-02-20'].map(date => dated(date, date))
    const source = sourceOf({ items: { records } })
    expect(idsOf(await ask(source, { since: '2026-02-01', until: '2026-02-10' }))).toEqual([
      '2026-02-01',
      '2026-02-10T23:59:00Z',
    ])
    expect(idsOf(await ask(source, { since: '2026-02-10T23:59:30Z' }))).toEqual(['2026-02-11', '2026-02-20'])
    expect(idsOf(await ask(source, { until: '2026-02-01T00:00:00Z' }))).toEqual([])
  })

  it('is what a filter over everything would be, however deep the fresh ones lie (CO-015, CO-019)', async () => {
    const ages = fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(null)), { maxLength: 40 })
    const inputs = fc.record({
      days: fc.integer({ min: 0, max: 20 }),
      nResults: fc.integer({ min: 1, max: 8 }),
      undated: fc.constantFrom('include' as const, 'exclude' as const),
    })
    await fc.assert(
      fc.asyncProperty(ages, inputs, async (given, { days, nResults, undated }) => {
        const records = given.map((age, at) =>
          recordOf(`r${at}`, at / 100, age === null ? {} : { date: new Date(NOW - age * 86_400_000).toISOString() }),
        )
        const answer = await ask(sourceOf({ items: { records } }), { days, nResults, undated, collections: ['items'] })
        const survivors = given.flatMap((age, at) =>
          (age === null ? undated === 'include' : age <= days) ? [`r${at}`] : [],
        )
        expect(idsOf(answer)).toEqual(survivors.slice(0, nResults))
      }),
      { numRuns: 100 },
    )
  })
})
