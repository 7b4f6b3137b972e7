/** Labelled questions over a copy of code of ours, in each mode and rank (CX-072). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type IndexedCode,
  indexCode,
  type Measures,
  measuresOf,
  questionSet,
  WAYS,
} from '../../bench/lib/context-questions.ts'
import { modelFolder } from '../support/model.ts'

const set = questionSet('judged on')

/** What was measured, less a little. */
const FLOORS: Readonly<Record<string, Measures>> = {
  'exact, breadth': { recall: 0.22, ndcg: 0.2 },
  'exact, relevance': { recall: 0.22, ndcg: 0.22 },
  'semantic, breadth': { recall: 0.89, ndcg: 0.7 },
  'hybrid, breadth': { recall: 0.6, ndcg: 0.41 },
  'hybrid, relevance': { recall: 0.93, ndcg: 0.815 },
}

it('have labels that name something, also those by which weights were chosen', async () => {
  await using code = await indexCode(questionSet('chosen on'), 'none')
  expect(code.sys).toBeDefined()
})

describe('labelled questions about code (CX-072)', () => {
  let code: IndexedCode
  const measured = new Map<string, Measures>()
  const of = (way: string): Measures => measured.get(way) as Measures

  beforeAll(async () => {
    modelFolder()
    code = await indexCode(set, { provider: 'local' })
    for (const way of WAYS) measured.set(`${way.mode}, ${way.rank}`, await measuresOf(code.sys, set, way))
    console.info(JSON.stringify(Object.fromEntries(measured)))
  })

  afterAll(() => code?.[Symbol.asyncDispose]())

  it('are at least forty', () => {
    expect(set.questions.length).toBeGreaterThanOrEqual(40)
  })

  it.each(Object.entries(FLOORS))('asked in %s find their answers', (way, least) => {
    expect(of(way).recall).toBeGreaterThanOrEqual(least.recall)
    expect(of(way).ndcg).toBeGreaterThanOrEqual(least.ndcg)
  })

  it.each([
    ['hybrid, breadth', 'exact, breadth'],
    ['hybrid, relevance', 'exact, relevance'],
    ['hybrid, relevance', 'hybrid, breadth'],
    ['hybrid, relevance', 'semantic, breadth'],
  ])('asked in %s find no less than in %s', (better, other) => {
    expect(of(better).recall).toBeGreaterThanOrEqual(of(other).recall)
    expect(of(better).ndcg).toBeGreaterThanOrEqual(of(other).ndcg)
  })
})
