/** What every embedder must do, whatever runs it. The embedder under test must know English. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Embedder } from '../../src/embed/embedder.ts'

const CAT = 'A cat sleeps on the warm windowsill.'
const KITTEN = 'The kitten is napping by the window.'
const TAX = 'Quarterly tax returns must be filed electronically.'

/** `open` is called once; the suite closes what it opened. */
export function embedderSuite(name: string, open: () => Promise<Embedder>): void {
  describe(`embedder contract: ${name}`, () => {
    let embedder: Embedder
    beforeAll(async () => {
      embedder = await open()
    })
    afterAll(() => embedder.close())

    it('describes its model', () => {
      const { id, hash, dimensions, maxTokens, cosineScale } = embedder.model
      expect(id).not.toBe('')
      expect(hash).toMatch(/^[0-9a-f]{64}$/)
      expect(dimensions).toBeGreaterThan(0)
      expect(maxTokens).toBeGreaterThan(0)
      expect(cosineScale).toBeGreaterThan(0)
    })

    it('gives no vector for no text', async () => {
      expect(await embedder.embed([], 'passage')).toEqual([])
    })

    it('gives one vector a text, in order, of the stated dimensions and of length 1', async () => {
      const texts = [
        CAT,
        TAX,
        KITTEN,
        '',
        '   ',
        '\u0000',
        '日本語のテキスト',
        '\ud800 half a character',
        'x'.repeat(50_000),
      ]
      const vectors = await embedder.embed(texts, 'passage')
      expect(vectors.length).toBe(texts.length)
      for (const vector of vectors) {
        expect(vector).toBeInstanceOf(Float32Array)
        expect(vector.length).toBe(embedder.model.dimensions)
        expect(Math.abs(dot(vector, vector) - 1)).toBeLessThan(1e-5)
      }
      const [tax] = await embedder.embed([TAX], 'passage')
      expect(vectors[1]).toEqual(tax)
    })

    it('gives a text the same bits alone, among others and after others', async () => {
      const [alone] = await embedder.embed([CAT], 'passage')
      const long = `${TAX} `.repeat(60)
      const together = await embedder.embed([long, CAT, TAX, CAT], 'passage')
      const [after] = await embedder.embed([CAT], 'passage')
      const [one, two] = await Promise.all([embedder.embed([CAT], 'passage'), embedder.embed([long, CAT], 'passage')])
      for (const vector of [together[1], together[3], after, one[0], two[1]]) expect(vector).toEqual(alone)
    })

    it('puts what means the same closer than what does not', async () => {
      const [cat, kitten, tax] = await embedder.embed([CAT, KITTEN, TAX], 'passage')
      expect(dot(cat, kitten)).toBeGreaterThan(dot(cat, tax) + 0.2)
      const [question] = await embedder.embed(['Where does the cat sleep?'], 'query')
      expect(dot(question, cat)).toBeGreaterThan(dot(question, tax) + 0.2)
    })

    it('gives vectors that are not views of one buffer', async () => {
      const vectors = await embedder.embed([CAT, TAX], 'passage')
      expect(vectors.map(vector => vector.buffer.byteLength)).toEqual(
        vectors.map(() => embedder.model.dimensions * Float32Array.BYTES_PER_ELEMENT),
      )
    })

    it('rejects with `cancelled` when the signal is aborted before', async () => {
      await expect(embedder.embed([CAT], 'query', AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' })
    })

    it('rejects with `cancelled` when the signal is aborted meanwhile, and goes on working', async () => {
      const controller = new AbortController()
      const long = Array.from({ length: 40 }, (_, i) => `${TAX} ${i}`.repeat(20))
      const pending = embedder.embed(long, 'passage', controller.signal)
      const bystander = embedder.embed([CAT], 'passage')
      controller.abort()
      await expect(pending).rejects.toMatchObject({ code: 'cancelled' })
      expect(await bystander).toEqual(await embedder.embed([CAT], 'passage'))
    })

    it('can be closed twice', async () => {
      const other = await open()
      await other.close()
      await other.close()
    })
  })
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) throw new Error('a vector is missing')
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
}
