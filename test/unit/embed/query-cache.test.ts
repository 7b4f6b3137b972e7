import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Embedder } from '../../../src/embed/embedder.ts'
import { cacheQueries } from '../../../src/embed/query-cache.ts'

/** Gives each text a vector of its own and writes down what it was asked. */
function recorder(): { embedder: Embedder; asked: string[][] } {
  const asked: string[][] = []
  const embedder: Embedder = {
    model: {
      id: 'recorder',
      hash: '0'.repeat(64),
      dimensions: 2,
      maxTokens: 10,
      languages: [],
      calibration: null,
      cosineScale: 1,
    },
    async embed(texts) {
      asked.push([...texts])
      if (texts.includes('bad')) throw new Error('refused')
      return texts.map(text => Float32Array.of(text.length, text.charCodeAt(0)))
    },
    close: async () => {},
  }
  return { embedder, asked }
}

describe('cacheQueries', () => {
  it('asks once for a question that comes again, and counts', async () => {
    const { embedder, asked } = recorder()
    const cached = cacheQueries(embedder, 10)
    const [first] = await cached.embed(['cats'], 'query')
    const [second] = await cached.embed(['cats'], 'query')
    expect(second).toEqual(first)
    expect(asked).toEqual([['cats']])
    expect(cached.hits).toBe(1)
  })

  it('asks only for what it does not know, once each, and answers in order', async () => {
    const { embedder, asked } = recorder()
    const cached = cacheQueries(embedder, 10)
    await cached.embed(['b'], 'query')
    const vectors = await cached.embed(['a', 'b', 'ccc', 'a'], 'query')
    expect(asked).toEqual([['b'], ['a', 'ccc']])
    expect(vectors.map(vector => [...vector])).toEqual([
      [1, 97],
      [1, 98],
      [3, 99],
      [1, 97],
    ])
  })

  it('lets passages through and keeps them apart from questions', async () => {
    const { embedder, asked } = recorder()
    const cached = cacheQueries(embedder, 10)
    await cached.embed(['cats'], 'query')
    await cached.embed(['cats'], 'passage')
    await cached.embed(['cats'], 'passage')
    expect(asked.length).toBe(3)
    expect(cached.hits).toBe(0)
  })

  it('forgets the question that was used longest ago', async () => {
    const { embedder, asked } = recorder()
    const cached = cacheQueries(embedder, 2)
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cached.embed([text], 'query')
    expect(asked).toEqual([['a'], ['b'], ['c'], ['b']])
  })

  it('remembers no failure', async () => {
    const { embedder } = recorder()
    const cached = cacheQueries(embedder, 10)
    for (let i = 0; i < 2; i++) await expect(cached.embed(['bad'], 'query')).rejects.toThrow('refused')
  })

  it('answers as without it, whatever is asked and however small it is', async () => {
    const text = fc.constantFrom('a', 'b', 'cc', 'dd', 'eee')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(text)), fc.integer({ min: 1, max: 4 }), async (calls, size) => {
        const plain = recorder().embedder
        const cached = cacheQueries(recorder().embedder, size)
        for (const texts of calls) {
          expect(await cached.embed(texts, 'query')).toEqual(await plain.embed(texts, 'query'))
        }
      }),
    )
  })
})
