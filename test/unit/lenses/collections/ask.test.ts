import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChromaQueryError } from '../../../../src/lenses/collections/request.ts'
import { scoreOf } from '../../../../src/lenses/collections/results.ts'
import type { SourceRecord } from '../../../../src/pipeline/source.ts'
import { ask, idsOf, NOW, recordOf, sourceOf } from './world.ts'

describe('results', () => {
  it('have the five fields of the contract, and more for JSON (CO-001, CO-014, CO-050)', async () => {
    const metadata = { title: 'Test Title', date: '2026-02-24' }
    const { results, meta } = await ask(
      sourceOf({ items: { records: [recordOf('a', 0.1499, metadata, 'Test content')] } }),
    )
    expect(results).toEqual([
      {
        ...{ id: 'a', title: 'Test Title', content: 'Test content', source: 'items', score: 0.85, metadata },
        ...{ rawScore: 1 - 0.1499, why: ['vector'] },
      },
    ])
    expect(meta).toMatchObject({ store: 'local', collections: ['items', 'analysis'], cutoff: null, total: 1 })
    expect(meta.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('are scored by the space of the distance (CO-008, CO-010, CO-011)', () => {
    expect(scoreOf(0.16, 'l2')).toBeCloseTo(0.92, 12)
    expect(scoreOf(0.25, 'cosine')).toBe(0.75)
    expect(scoreOf(0.25, 'ip')).toBe(0.75)
    expect([scoreOf(null, 'l2'), scoreOf(3, 'l2'), scoreOf(-1, 'ip'), scoreOf(2, 'cosine')]).toEqual([0.5, 0, 1, 0])
  })

  it('take what a record lacks as the contract says (CO-011, CO-012, CO-056)', async () => {
    const early = { item_id: 'blog_1', actionability: 'high', confidence: 0.9 }
    const records = [
      recordOf('named', 0.1, { title: 'A title' }),
      recordOf('blank', 0.2, { title: '  ' }),
      recordOf('number', 0.3, { title: 7 }),
      recordOf('early', 0.4, { ...early, signal_score: '0.7', analyzed_at: '2026-02-01' }),
      { ...recordOf('bare', null), content: null },
    ]
    const { results } = await ask(sourceOf({ items: { records, space: 'l2' } }))
    expect(results.map(({ title }) => title)).toEqual(['A title', 'blank', 'number', 'early', 'bare'])
    expect(results.at(-1)).toMatchObject({ content: '', metadata: {}, score: 0.5 })
  })

  it('are sorted before they are rounded (CO-013)', async () => {
    const items = { records: [recordOf('first', 1 - 0.918)] }
    const analysis = { records: [recordOf('second', 1 - 0.9185)] }
    const { results } = await ask(sourceOf({ items, analysis }))
    expect(results.map(({ id, score }) => [id, score])).toEqual([
      ['second', 0.92],
      ['first', 0.92],
    ])
  })

  it('keep the order of collections, then of the store, among equals; always the best first (CO-013)', async () => {
    const distances = fc.array(
      fc.integer({ min: 0, max: 8 }).map(n => n / 4),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(distances, distances, async (a, b) => {
        const listed = (name: string, list: readonly number[]) => ({
          records: [...list].sort((x, y) => x - y).map((distance, at) => recordOf(`${name}${at}`, distance)),
        })
        const source = sourceOf({ items: listed('i', a), analysis: listed('a', b) })
        const { results } = await ask(source, { nResults: 20 })
        const all = [...listed('i', a).records, ...listed('a', b).records]
        const expected = all
          .map(({ id, distance }, at) => ({ id, at, score: scoreOf(distance, 'cosine') }))
          .sort((x, y) => y.score - x.score || x.at - y.at)
        expect(results.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      }),
      { numRuns: 60 },
    )
  })
})

describe('the question', () => {
  const items = { records: Array.from({ length: 8 }, (_, at) => recordOf(`i${at}`, at / 10)) }
  const analysis = { records: Array.from({ length: 8 }, (_, at) => recordOf(`a${at}`, at / 10)) }

  it('asks items and analysis for five each unless told otherwise (CO-004, CO-006, CO-007)', async () => {
    const source = sourceOf({ items, analysis })
    const answer = await ask(source)
    expect(source.asked.map(({ collections, limit }) => [collections, limit])).toEqual([
      [['items'], 5],
      [['analysis'], 5],
    ])
    expect(answer.results.length).toBe(10)
    expect((await ask(source, { nResults: 2, collections: ['analysis'] })).results.length).toBe(2)
  })

  it.each([
    ['days', { days: -1 }],
    ['days', { days: 1.5 }],
    ['days', { days: Number.NaN }],
    ['nResults', { nResults: 0 }],
    ['nResults', { nResults: 2.5 }],
    ['nResults', { nResults: '5' as never }],
    ['days', { days: Object.create(null) }],
    ['collections', { collections: 'items' as never }],
    ['collections', { collections: 5 as never }],
    ['source', { source: 7 as never }],
    ['actionability', { actionability: null as never }],
    ['fold', { fold: 'no' as never }],
    ['hybrid', { hybrid: 1 as never }],
    ['minScore', { minScore: 2 }],
    ['since', { since: 'tomorrow' }],
    ['until', { until: '2026-02-31' }],
    ['offset', { offset: -1 }],
    ['limit', { limit: 0 }],
  ])('refuses a wrong %s by name (CO-020, CO-030)', async (parameter, input) => {
    const error = await ask(sourceOf({ items }), input).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ChromaQueryError)
    expect((error as Error).message).toContain(parameter)
  })

  it('has no upper bound on results and days (CO-007, CO-015, CO-020)', async () => {
    const source = sourceOf({ items })
    const most = Number.MAX_SAFE_INTEGER
    const answer = await ask(source, { nResults: most, days: most, hybrid: true, collections: ['items'] })
    expect(answer.results.length).toBe(8)
    expect(answer.meta.cutoff).toBe('-271821-04-20T00:00:00.000Z')
  })

  it.each(['', '   ', '\n'])('refuses a blank query: %j (CO-021)', async query => {
    await expect(ask(sourceOf({ items }), { query })).rejects.toThrow(/^query is required$/)
  })

  it('fails with an error that keeps message and cause (CO-022)', () => {
    const cause = new Error('underneath')
    const error = new ChromaQueryError('Test error', { cause })
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.message, error.cause]).toEqual(['ChromaQueryError', 'Test error', cause])
  })

  it('pages through the sorted answer (CO-049)', async () => {
    const source = sourceOf({ items, analysis })
    const whole = await ask(source)
    const pages = await Promise.all([0, 4, 8].map(offset => ask(source, { offset, limit: 4 })))
    expect(pages.flatMap(idsOf)).toEqual(idsOf(whole))
    expect(pages.map(({ results, meta }) => [results.length, meta.total])).toEqual([
      [4, 10],
      [4, 10],
      [2, 10],
    ])
  })

  it('narrows to a source, an actionability and a least score (CO-030)', async () => {
    const records = [
      recordOf('a', 0.1, { source_type: 'blogs', actionability: 'high' }),
      recordOf('b', 0.2, { source_type: 'docs', actionability: 'high' }),
      recordOf('c', 0.6, { source_type: 'blogs', actionability: 'low' }),
    ]
    const source = sourceOf({ items: { records } })
    expect(idsOf(await ask(source, { source: 'blogs' }))).toEqual(['a', 'c'])
    expect(idsOf(await ask(source, { actionability: 'high' }))).toEqual(['a', 'b'])
    expect(idsOf(await ask(source, { source: 'blogs', minScore: 0.5 }))).toEqual(['a'])
  })

  it('folds an item and its analysis into the better of the two when asked to (CO-029)', async () => {
    const source = sourceOf({
      items: { records: [recordOf('blog_1', 0.3), recordOf('blog_2', 0.1)] },
      analysis: {
        records: [recordOf('analysis_blog_1', 0.2, { item_id: 'blog_1' }), recordOf('other', 0.4, { item_id: 'gone' })],
      },
    })
    expect(idsOf(await ask(source))).toEqual(['blog_2', 'analysis_blog_1', 'blog_1', 'other'])
    const { results } = await ask(source, { fold: true })
    expect(results.map(({ id, relatedIds }) => [id, relatedIds])).toEqual([
      ['blog_2', []],
      ['analysis_blog_1', ['blog_1']],
      ['other', []],
    ])
  })

  it('folds nothing that names nothing of the answer, whatever ids are alike (CO-029)', async () => {
    const folded = async (items: readonly SourceRecord[], analysis: readonly SourceRecord[]) => {
      const source = sourceOf({ items: { records: items }, analysis: { records: analysis } })
      const { results } = await ask(source, { fold: true })
      return results.map(({ source, id, relatedIds }) => [source, id, relatedIds])
    }
    expect(await folded([recordOf('1', 0.1)], [recordOf('1', 0.2)])).toEqual([
      ['items', '1', []],
      ['analysis', '1', []],
    ])
    const ofOneAbsent = [recordOf('a', 0.2, { item_id: 'gone' }), recordOf('b', 0.3, { item_id: 'gone' })]
    expect(await folded([], ofOneAbsent)).toEqual([
      ['analysis', 'a', []],
      ['analysis', 'b', []],
    ])
    const crossing = [recordOf('1', 0.1), recordOf('2', 0.3)]
    expect(await folded(crossing, [recordOf('1', 0.2, { item_id: '2' })])).toEqual([
      ['items', '1', []],
      ['analysis', '1', ['2']],
    ])
    expect(await folded([recordOf('1', 0.3)], [recordOf('1', 0.2, { item_id: '1' })])).toEqual([
      ['analysis', '1', ['1']],
    ])
    const namingItself = recordOf('1', 0.3, { item_id: '1' })
    expect(await folded([namingItself], [recordOf('a', 0.4, { item_id: '1' })])).toEqual([['items', '1', ['a']]])
  })

  it('fuses words in when asked to, accents and case folded, and says what matched (CO-031)', async () => {
    const source = sourceOf({
      items: { records: [recordOf('near', 0.1, {}, 'nothing of it'), recordOf('far', 0.3, { title: 'CANCIÓN' }, 'x')] },
    })
    const plain = await ask(source, { query: 'cancion' })
    expect(plain.results.map(({ id, why }) => [id, why])).toEqual([
      ['near', ['vector']],
      ['far', ['vector']],
    ])
    const hybrid = await ask(source, { query: 'cancion', hybrid: true })
    expect(hybrid.results.map(({ id, why }) => [id, why])).toEqual([
      ['far', ['vector', 'words']],
      ['near', ['vector']],
    ])
  })
})

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

  it('is reported as a store that cannot be opened when nobody answers (CO-023)', async () => {
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

it('QE-019: each of several collections that take long to ask is asked in a turn of the event loop of its own', async () => {
  const names = ['a', 'b', 'c', 'd']
  const source = sourceOf(Object.fromEntries(names.map(name => [name, { records: [recordOf(name, 0.1)] }])))
  let [turn, isOver] = [0, false]
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const asking: typeof source.ask = request => {
    turns.push(turn)
    for (const begun = performance.now(); performance.now() - begun < 21; );
    return source.ask(request)
  }
  const { results } = await ask({ ...source, ask: asking }, { collections: names })
  isOver = true
  expect(results).toHaveLength(names.length)
  expect(new Set(turns).size).toBe(names.length)
})
