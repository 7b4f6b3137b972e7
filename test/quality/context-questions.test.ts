/** Labelled questions over a repository of ours (its lower layers), in each mode and rank (CX-072). */
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

/** What was measured, less a little: other code in the folders moves it. */
// The corpus is this repository's `src`, so figures move as it grows. On 2026-11-25 the breadth floors were lowered (0.73, 0.68
// and 0.46 before): the same program over the older `src` still gave 0.736, 0.686 and 0.463. On 2026-11-26 again (0.9 and 0.71, 0.64 and
// 0.44 before): over the older `src` it gave 0.913 and 0.713, 0.644 and 0.442. Again
// for 'hybrid, breadth' (0.61 before), when modules of the pipeline were joined and one labelled function was gone: over the older `src` 0.621. The order that is the default, by relevance, keeps its floors.
const FLOORS: Readonly<Record<string, Measures>> = {
  'exact, breadth': { recall: 0.2, ndcg: 0.17 },
  'exact, relevance': { recall: 0.2, ndcg: 0.19 },
  'semantic, breadth': { recall: 0.88, ndcg: 0.68 },
  'hybrid, breadth': { recall: 0.59, ndcg: 0.4 },
  'hybrid, relevance': { recall: 0.92, ndcg: 0.82 },
}

it('have labels that name something, also those by which weights were chosen', async () => {
  await using code = await indexCode(questionSet('chosen on'), 'none')
  expect(code.sys).toBeDefined()
}, 120_000)

describe('labelled questions about code (CX-072)', () => {
  let code: IndexedCode
  const measured = new Map<string, Measures>()
  const of = (way: string): Measures => measured.get(way) as Measures

  beforeAll(async () => {
    modelFolder()
    code = await indexCode(set, { provider: 'local' })
    for (const way of WAYS) measured.set(`${way.mode}, ${way.rank}`, await measuresOf(code.sys, set, way))
    console.info(JSON.stringify(Object.fromEntries(measured)))
  }, 300_000)

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
