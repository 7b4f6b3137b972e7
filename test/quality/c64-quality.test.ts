/** The floors of the lens c64 on its labelled questions. `npm run bench -- c64` says more. */
import { describe, expect, it } from 'vitest'
import { type AskedQuestion, askAll, labelledQuestions, qualityOf } from '../../bench/lib/c64-quality.ts'
import { cacheOnDisk } from '../../bench/lib/cached-embedder.ts'
import { openEmbedder } from '../../src/embed/open-embedder.ts'
import { c64Corpus } from '../../src/lenses/c64/corpus.ts'
import { embedC64, openC64 } from '../../src/openings/c64.ts'
import { modelFolder } from '../support/model.ts'

describe('the labelled questions', () => {
  it('are at least 60, half of them without exact names, about records that exist (EN-080)', () => {
    const questions = labelledQuestions()
    const ids = new Set(c64Corpus().map(({ id }) => id))
    expect(questions.length).toBeGreaterThanOrEqual(60)
    expect(questions.filter(({ kind }) => kind === 'plain').length * 2).toBe(questions.length)
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length)
    expect(questions.flatMap(({ relevant }) => relevant).filter(id => !ids.has(id))).toEqual([])
    expect(questions.every(({ relevant }) => relevant.length > 0)).toBe(true)
  })
})

// The first run embeds the facts, half a minute; their vectors are kept in bench/out.
describe('the right record', () => {
  it('is near the top with enrichment, by model and by words alone, and lower without (EN-080)', async () => {
    const embedder = await openEmbedder({ provider: 'local', folder: modelFolder() }, { baseFolder: '.', env: {} })
    if (embedder === null) throw new Error('there is no local embedder')
    const [enriched, raw] = await asked(cacheOnDisk(embedder))
    const [byWords, rawByWords] = await asked('none')
    const mrr = (questions: readonly AskedQuestion[]) => qualityOf(questions).mrr
    const heldOut = (questions: readonly AskedQuestion[]) => questions.filter(({ part }) => part === 'held out')
    expect(mrr(enriched)).toBeGreaterThanOrEqual(0.8)
    expect(mrr(enriched)).toBeGreaterThan(mrr(raw))
    expect(mrr(heldOut(enriched))).toBeGreaterThanOrEqual(0.75)
    expect(mrr(heldOut(enriched))).toBeGreaterThan(mrr(heldOut(raw)))
    expect(mrr(byWords)).toBeGreaterThanOrEqual(0.8)
    expect(mrr(byWords)).toBeGreaterThan(mrr(rawByWords))
    expect(qualityOf(enriched).recall).toBeGreaterThanOrEqual(0.9)
    expect(qualityOf(enriched).ndcg).toBeGreaterThan(qualityOf(raw).ndcg)
  })

  async function asked(embedder: ReturnType<typeof cacheOnDisk> | 'none') {
    await using c64 = await openC64({ store: 'memory', embedder, background: false, onlyLenses: ['c64'] })
    await embedC64(c64.engine)
    return [await askAll(c64, false), await askAll(c64, true)] as const
  }
})
