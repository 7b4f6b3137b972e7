/**
 * Embedding as it was at commit 6189f30a, to compare with: unsigned weights, one session of two threads that do not spin,
 * in a worker. Takes `{ texts }`, answers with their vectors.
 */
import { parentPort, workerData } from 'node:worker_threads'
import ort from 'onnxruntime-node'
import { pool } from '../../src/embed/pooling.ts'
import { openTokenizer } from '../../src/embed/tokenizer.ts'
import { toUnit } from '../../src/embed/unit.ts'

export interface UnsignedModel {
  readonly weights: Uint8Array
  readonly tokenizer: string
  readonly tokenizerConfig: string
}

const { weights, tokenizer, tokenizerConfig } = workerData as UnsignedModel
const tokenize = openTokenizer(JSON.parse(tokenizer), JSON.parse(tokenizerConfig), 256)
const session = await ort.InferenceSession.create(weights, {
  intraOpNumThreads: 2,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
})

async function embed(text: string): Promise<Float32Array | null> {
  const ids = tokenize(text)
  const results = await session.run({
    input_ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
    attention_mask: new ort.Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length]),
  })
  const output = results['last_hidden_state']
  const vector = output === undefined ? null : toUnit(pool(output.data as Float32Array, ids.length, 384, 'mean'))
  for (const tensor of Object.values(results)) tensor.dispose()
  return vector
}

parentPort?.on('message', async ({ texts }: { readonly texts: readonly string[] }) => {
  const vectors: (Float32Array | null)[] = []
  for (const text of texts) vectors.push(await embed(text))
  parentPort?.postMessage(vectors)
})
parentPort?.postMessage('ready')
