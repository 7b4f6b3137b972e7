import { expect, it } from 'vitest'
import { checkEmbedder } from '../../../src/embed/checked-embedder.ts'
import { openToyEmbedder, TOY_MODEL, toyVector } from '../../support/toy-embedder.ts'

const giving = (vectors: readonly Float32Array[]) =>
  checkEmbedder({ ...openToyEmbedder(), embed: () => Promise.resolve(vectors) })

it('an embedder that keeps its contract gives what it gives', async () => {
  const embedder = checkEmbedder(openToyEmbedder())
  expect(await embedder.embed(['fox', ''], 'passage')).toEqual([toyVector('fox'), toyVector('')])
  expect(await giving([toyVector('fox').map(x => x * 1.004)]).embed(['fox'], 'query')).toHaveLength(1)
})

it.each<[string, readonly Float32Array[], string]>([
  ['too few vectors', [], '0 vectors for 1 texts'],
  ['too many vectors', [toyVector('a'), toyVector('b')], '2 vectors for 1 texts'],
  ['short vectors', [new Float32Array(3).fill(1)], `3 of ${TOY_MODEL.dimensions} dimensions`],
  ['zeros', [new Float32Array(TOY_MODEL.dimensions)], 'not of unit length'],
  ['long vectors', [toyVector('a').map(x => x * 2)], 'not of unit length'],
  ['numbers that are none', [toyVector('a').fill(Number.NaN, 0, 1)], 'not of unit length'],
])('%s are refused', async (_, vectors, message) => {
  await expect(giving(vectors).embed(['a'], 'passage')).rejects.toMatchObject({
    code: 'embedder_failed',
    message: expect.stringContaining(message),
  })
})
