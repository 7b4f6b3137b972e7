/** A user's documents beside the facts of the lens c64, and the answer where nothing is relevant. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import { openTestEngine } from '../../support/engines.ts'

const DOCUMENTS = [
  ['borders', '$D016', 'Open the side borders: switch $D016 from 40 to 38 columns at the right cycle of each line.'],
  ['colours', '$D020', 'Change $D020 in the middle of a line to split the border into two colours.'],
  ['volume', '$D418', 'Play digitised samples by writing four bits at a time to the volume in $D418.'],
  ['irq', '$0314', 'Point the vector at $0314 to your own routine to run it at every interrupt.'],
] as const

const QUESTIONS = [
  ['open the side borders with $D016', 'borders'],
  ['split the border into two colours with $D020', 'colours'],
  ['play digitised samples with $D418', 'volume'],
  ['run my own routine at every interrupt through $0314', 'irq'],
] as const

async function opened(): Promise<Engine> {
  const engine = await openTestEngine({ embedder: 'none' })
  await engine.put({
    entries: DOCUMENTS.map(([id, tag, content]) => ({
      id,
      collection: 'c64',
      kind: 'documentation',
      content,
      tags: [tag],
    })),
  })
  return engine
}

describe('a document that is first for the question as asked', () => {
  it.each(QUESTIONS)('stays first when %s is enriched', async (query, id) => {
    await using engine = await opened()
    expect((await engine.c64.query({ query, raw: true })).results[0]?.id).toBe(id)
    const { results, additional_context: context } = await engine.c64.query({ query })
    expect(context.length).toBeGreaterThan(0)
    expect(results[0]?.id).toBe(id)
    // The facts are still found behind it.
    expect(results.some(({ id: other }) => String(other).startsWith('c64:'))).toBe(true)
  })

  it('has in its explanation the score by the question as asked', async () => {
    await using engine = await opened()
    const [query, id] = QUESTIONS[0]
    const { explanation } = await engine.c64.explain({ query: { query }, id })
    expect(explanation?.formula).toBe('max')
    expect(explanation?.children?.map(({ label }) => label)).toEqual(['by the enriched query', 'by the original query'])
  })
})

describe('a question on another subject', () => {
  it('has the verdict nothing_relevant, no results, and in Markdown what came nearest (EN-070, QE-005)', async () => {
    await using engine = await opened()
    const query = 'zymurgy quokka flibbertigibbet'
    const { verdict, reason, results, nearest } = await engine.c64.query({ query })
    expect({ verdict, results, nearest }).toEqual({ verdict: 'nothing_relevant', results: [], nearest: [] })
    expect(reason).toBe('None of the words of the query occur.')
    const near = await engine.c64.query({
      query: 'which wine goes with grilled fish and a lot of garlic',
      formatted: true,
    })
    expect(near).toMatchObject({ verdict: 'nothing_relevant', results: [] })
    expect(near.nearest.length).toBeGreaterThan(0)
    expect(near.formatted).toMatch(/^No results found\.\n\n---\n\nNearest:\n(- .+\n?){1,3}$/)
  })

  it('writes nothing when others than the owner ask, who are answered with a verdict too (QE-019)', async () => {
    await using engine = await openTestEngine({ embedder: 'none' })
    const visitor = engine.as({ id: 'guest' })
    expect((await visitor.c64.query({ query: 'SID volume' })).verdict).toBe('answered')
    expect(await visitor.c64.count({ query: 'SID volume' })).toMatchObject({ exact: true })
    expect(
      (await engine.query({ text: 'SID volume', lens: 'c64' }, { viewer: { id: 'guest' } })).items.length,
    ).toBeGreaterThan(0)
    expect((await engine.list({})).total).toBe(0)
  })
})
