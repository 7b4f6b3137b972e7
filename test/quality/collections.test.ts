/** The labelled questions of the lens `collections` are answered as well as when they were measured. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type CollectionsQuality, FLOORS, measureCollections } from '../../bench/collections.ts'
import questions from '../../bench/data/collections-questions.json' with { type: 'json' }
import { sampleRecords } from '../../src/lenses/collections/sample/sample.ts'
import { modelFolder } from '../support/model.ts'

describe('the labelled questions', () => {
  const records = sampleRecords(0)

  it('are some dozens in each language, about records that there are', () => {
    for (const lang of ['en', 'es'])
      expect(questions.filter(one => one.lang === lang).length).toBeGreaterThanOrEqual(24)
    const ids = new Set(records.map(({ id }) => id))
    expect(questions.flatMap(({ relevant }) => relevant).filter(id => !ids.has(id))).toEqual([])
    expect(questions.filter(({ relevant }) => relevant.length === 0)).toEqual([])
  })

  it('do not repeat the titles they ask for', () => {
    const titles = new Set(records.map(({ title }) => title.toLowerCase()))
    expect(questions.filter(({ question }) => titles.has(question.toLowerCase()))).toEqual([])
  })
})

describe('the sample', () => {
  it('has items and analyses in both languages, and analyses of items that there are', () => {
    const records = sampleRecords(Date.parse('2026-03-01T12:00:00Z'))
    for (const collection of ['items', 'analysis']) {
      for (const lang of ['en', 'es']) {
        const some = records.filter(one => one.collection === collection && one.metadata['lang'] === lang)
        expect(some.length).toBeGreaterThanOrEqual(8)
      }
    }
    const items = new Set(records.filter(({ collection }) => collection === 'items').map(({ id }) => id))
    const about = records.flatMap(({ metadata }) => metadata['item_id'] ?? [])
    expect(about.filter(id => !items.has(String(id)))).toEqual([])
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
    expect(records[0]?.metadata['date']).toBe('2026-02-27')
  })
})

describe('quality over the sample', () => {
  let measured: readonly CollectionsQuality[]
  beforeAll(async () => {
    modelFolder()
    measured = await measureCollections()
  })

  it.each([
    ['en', 'vectors'],
    ['en', 'hybrid'],
    ['es', 'vectors'],
    ['es', 'hybrid'],
  ] as const)('in %s, by %s, is above its floor', (language, ranking) => {
    const one = measured.find(found => found.language === language && found.ranking === ranking)
    expect(one?.mrr).toBeGreaterThanOrEqual(FLOORS[language][ranking])
    expect(one?.recall10).toBeGreaterThanOrEqual(0.93)
  })
})
