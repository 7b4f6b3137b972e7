/**
 * The product on the labelled conversations, held against the reference's default: import through the engine, questions by
 * `conversations.query`, the built-in model. Its vectors are kept in bench/out; the first run embeds for half a minute.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cacheOnDisk } from '../../../bench/lib/cached-embedder.ts'
import { labelledSet } from '../../../bench/lib/conversations/labelled-set.ts'
import { openProduct } from '../../../bench/lib/conversations/product.ts'
import { judgeReference, meanOf, ofProfile, TOLERANCE } from '../../../bench/lib/conversations/quality.ts'
import type { QuestionSet } from '../../../bench/lib/conversations/question-set.ts'
import { localEmbedder } from '../../../bench/lib/local-embedder.ts'
import type { Embedder } from '../../../src/embed/embedder.ts'

let embedder: Embedder
let set: QuestionSet
beforeAll(async () => {
  embedder = cacheOnDisk(await localEmbedder())
  set = await labelledSet()
})
afterAll(() => embedder.close())

/** About one question in twenty below what was measured. */
const LEAST = { people: 0.65, assistant: 0.73 } as const

describe.each(['people', 'assistant'] as const)('conversations.query, %s', profile => {
  it('finds as much as the reference does', { timeout: 120_000 }, async () => {
    const part = ofProfile(set, profile)
    const reference = meanOf(await judgeReference(part, profile, embedder), 'recallAt10')
    await using asked = await openProduct(part, embedder)
    const product = meanOf(await asked.within(), 'recallAt10')
    expect(Math.abs(product - reference), `${product} against ${reference}`).toBeLessThanOrEqual(TOLERANCE)
    expect(product).toBeGreaterThanOrEqual(LEAST[profile])
  })
})
