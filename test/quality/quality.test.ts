/**
 * A slice of the quality benchmark, small enough for every run: it tells when the model, the stemmer, the chunks or the
 * formula change in earnest. `npm run bench -- quality` measures the collections whole.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingCollections, ndcg, type Question, readCollection } from '../../bench/lib/collections.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { Verdict } from '../../src/model/page.ts'
import type { QueryInput } from '../../src/model/query-input.ts'

const QUESTIONS = 30
const OTHER_DOCUMENTS = 20

const missing = missingCollections()
const skipped = missing.length > 0 ? ` (skipped, not beside the repository: ${missing.join(', ')})` : ''

describe.skipIf(missing.length > 0)(`quality on a slice of public collections${skipped}`, () => {
  let engine: Engine
  let own: readonly Question[]

  beforeAll(async () => {
    const { documents, questions } = readCollection('scifact')
    own = questions.slice(0, QUESTIONS)
    const relevant = new Set(own.flatMap(question => [...question.relevant]))
    const others = documents.filter(({ id }) => !relevant.has(id)).slice(0, OTHER_DOCUMENTS)
    engine = await openEngine({ store: 'memory', background: false })
    await engine.put({
      entries: [...documents.filter(({ id }) => relevant.has(id)), ...others].map(({ id, title, text }) => {
        return { id, title, content: text }
      }),
      wait: true,
    })
  })

  afterAll(() => engine?.close())

  async function quality(options: Partial<QueryInput>): Promise<number> {
    let sum = 0
    for (const { text, relevant } of own) {
      const { items } = await engine.query({ text, any: true, touch: false, ...options })
      sum += ndcg(
        items.map(item => item.id),
        relevant,
        10,
      )
    }
    return sum / own.length
  }

  it('finds what answers the questions as well as when it was measured', async () => {
    const [hybrid, words, meaning] = [
      await quality({}),
      await quality({ mode: 'words' }),
      await quality({ mode: 'meaning' }),
    ]
    // As measured; runtimes of the model differ by less than 0.01.
    expect(Math.abs(hybrid - 0.947)).toBeLessThan(0.02)
    expect(Math.abs(words - 0.931)).toBeLessThan(0.02)
    expect(Math.abs(meaning - 0.967)).toBeLessThan(0.02)
  })

  it('does not answer questions of another subject, and refuses none of its own', async () => {
    const share = async (wanted: Verdict, questions: readonly Question[]) => {
      const verdicts = await Promise.all(
        questions.map(async ({ text }) => (await engine.query({ text, limit: 1 })).verdict),
      )
      return verdicts.filter(verdict => verdict === wanted).length / questions.length
    }
    const foreign = readCollection('cranfield').questions.slice(0, QUESTIONS)
    expect(await share('answered', foreign)).toBeLessThanOrEqual(0.05)
    expect(await share('nothing_relevant', foreign)).toBeGreaterThanOrEqual(0.6)
    expect(await share('nothing_relevant', own)).toBeLessThanOrEqual(0.02)
    expect(await share('answered', own)).toBeGreaterThanOrEqual(0.8)
  })
})
