/**
 * How well `conversations.query` finds the messages that answer the questions of the labelled set: import through the engine,
 * the built-in model. Its vectors are kept in bench/out; the first run embeds for half a minute.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cacheOnDisk } from '../../../bench/lib/cached-embedder.ts'
import { labelledSet, type QuestionSet } from '../../../bench/lib/conversations/labelled-set.ts'
import { MIN_RECALL, meanOf, measuresOf, ofProfile, openProduct } from '../../../bench/lib/conversations/product.ts'
import { localEmbedder } from '../../../bench/lib/local-embedder.ts'
import type { Embedder } from '../../../src/embed/embedder.ts'

let embedder: Embedder
let set: QuestionSet
beforeAll(async () => {
  embedder = cacheOnDisk(await localEmbedder())
  set = await labelledSet()
})
afterAll(() => embedder.close())

describe.each(['people', 'assistant'] as const)('conversations.query, %s', profile => {
  it('finds as much as when it was measured', async () => {
    await using asked = await openProduct(ofProfile(set, profile), embedder)
    expect(meanOf(await asked.within(), 'recallAt10')).toBeGreaterThanOrEqual(MIN_RECALL[profile])
  })
})

describe('the measures', () => {
  const ranked = Array.from({ length: 12 }, (_, at) => ({ id: `m${at + 1}`, text: 'x'.repeat(960) }))

  it('count gold in the first ten, its first rank, and what fits 2,000 tokens', () => {
    // 250 tokens a message: eight fit exactly.
    expect(measuresOf(ranked, new Set(['m4', 'm8', 'm9', 'm11']))).toEqual({
      recallAt10: 0.75,
      hitAt10: 1,
      reciprocalRank: 0.25,
      recallInBudget: 0.5,
    })
  })

  it('are zero where nothing is found', () => {
    const zero = { recallAt10: 0, hitAt10: 0, reciprocalRank: 0, recallInBudget: 0 }
    expect(measuresOf(ranked, new Set(['m99']))).toEqual(zero)
  })
})
