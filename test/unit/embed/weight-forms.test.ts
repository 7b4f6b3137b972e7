/** The model has signed matrices, fused operators and no mask. Every vector is the one that the first form gave, bit for bit. */
import { describe, expect, it } from 'vitest'
// biome-ignore lint/correctness/useImportExtensions: the file is a script with types beside it, and biome wants .mjs.mts
import { buildUnsignedForm } from '../../../scripts/build-model.mjs'
// @ts-expect-error a script without types
import { ElementType, OnnxGraph } from '../../../scripts/onnx/onnx-graph.mjs'
import { must } from '../../../src/base/assert.ts'
import { readModelFiles, readOnnxFolder } from '../../../src/embed/onnx-folder.ts'
import { loadNative, loadOnnxRuntime, type OnnxRuntime, PROBE_MODEL } from '../../../src/embed/onnx-runtime.ts'
import { SentenceModel } from '../../../src/embed/sentence-model.ts'
import { modelFolder } from '../../support/model.ts'

const MAX_TOKENS = 256
const VOCABULARY = 30_522

/** Token ids of texts of several lengths, the same in every run. */
function randomTexts(): bigint[][] {
  let state = 17
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state % below
  }
  const lengths = [3, 4, 7, 16, 17, 33, 64, 127, MAX_TOKENS, ...Array.from({ length: 8 }, () => 3 + next(120))]
  return lengths.map(length => Array.from({ length }, () => BigInt(next(VOCABULARY))))
}

/** The output of the model for each text, as raw bytes. */
async function outputs(runtime: OnnxRuntime, model: Uint8Array): Promise<readonly Buffer[]> {
  const session = await runtime.open(model)
  const found: Buffer[] = []
  for (const ids of randomTexts()) {
    const shape = [1, ids.length]
    const feeds = {
      input_ids: new runtime.Tensor('int64', BigInt64Array.from(ids), shape),
      attention_mask: new runtime.Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    }
    const taken = Object.entries(feeds).filter(([name]) => session.inputNames.includes(name))
    const results = await session.run(Object.fromEntries(taken))
    const { data } = must(results['last_hidden_state'], 'the output of the model')
    found.push(Buffer.from(new Uint8Array(Float32Array.from(data as Float32Array).buffer)))
  }
  await session.release()
  return found
}

const builtForm = async () => (await readModelFiles(await readOnnxFolder(modelFolder()))).weights

describe('the model that is built', () => {
  it.each(['native', 'wasm'] as const)(
    'gives the same bits as its first form, with unsigned weights, %s runtime',
    async name => {
      const runtime = await loadOnnxRuntime(name)
      const built = await outputs(runtime, await builtForm())
      const unsigned = await outputs(runtime, buildUnsignedForm())
      expect(built.length).toBeGreaterThan(10)
      expect(built.map((bytes, at) => bytes.equals(unsigned[at] as Buffer))).toEqual(built.map(() => true))
    },
  )

  it('gives the same bits where the runtime has to multiply it as unsigned', async () => {
    const asNeeded = await outputs(await loadNative(), await builtForm())
    const asUnsigned = await outputs(await loadNative(true), await builtForm())
    expect(asUnsigned.map((bytes, at) => bytes.equals(asNeeded[at] as Buffer))).toEqual(asNeeded.map(() => true))
  })
})

describe('SentenceModel', () => {
  it('gives a mask to a model that takes one: the first form gives the same vectors as the one that is built', async () => {
    const folder = await readOnnxFolder(modelFolder())
    const files = await readModelFiles(folder)
    const parts = { ...files, ...folder.model, pooling: folder.pooling, runtime: undefined }
    const built = await SentenceModel.open(parts)
    const first = await SentenceModel.open({ ...parts, weights: buildUnsignedForm() })
    for (const text of ['a', 'The heart pumps blood through the body.', 'word '.repeat(400)]) {
      expect(await first.embed(text)).toEqual(await built.embed(text))
    }
  })
})

describe('the probe for clamped products', () => {
  it('is the graph that its description says', () => {
    const graph = new OnnxGraph('probe')
    graph.input('a', ElementType.UINT8, [1, 4])
    graph.constant('b', ElementType.INT8, [4, 16], new Int8Array(64).fill(127))
    graph.apply('c', 'MatMulInteger', ['a', 'b'])
    graph.output('c', ElementType.INT32, [1, 16])
    expect(graph.toFile('querent', { '': 20 }).toString('base64')).toBe(PROBE_MODEL)
  })
})
