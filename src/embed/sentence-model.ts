/** A loaded sentence model: turns one text at a time into a unit vector. It lives in the worker thread. */
import type { InferenceSession, Tensor } from 'onnxruntime-web'
import { type RuntimeName, toUnit } from './embedder.ts'
import { loadOnnxRuntime, type OnnxRuntime } from './onnx-runtime.ts'
import { openTokenizer, type Tokenize } from './tokenizer.ts'

export interface SentenceModelParts {
  /** The contents of the model's files: model.onnx, tokenizer.json and tokenizer_config.json. */
  readonly weights: Uint8Array
  readonly tokenizer: string
  readonly tokenizerConfig: string
  readonly dimensions: number
  readonly maxTokens: number
  readonly pooling: Pooling
  readonly runtime: RuntimeName | undefined
}

export class SentenceModel {
  readonly #runtime: OnnxRuntime
  readonly #session: InferenceSession
  readonly #tokenize: Tokenize
  readonly #parts: Pick<SentenceModelParts, 'dimensions' | 'pooling'>

  private constructor(
    runtime: OnnxRuntime,
    session: InferenceSession,
    tokenize: Tokenize,
    { dimensions, pooling }: SentenceModelParts,
  ) {
    this.#runtime = runtime
    this.#session = session
    this.#tokenize = tokenize
    this.#parts = { dimensions, pooling }
  }

  static async open(parts: SentenceModelParts): Promise<SentenceModel> {
    const runtime = await loadOnnxRuntime(parts.runtime)
    const tokenize = openTokenizer(JSON.parse(parts.tokenizer), JSON.parse(parts.tokenizerConfig), parts.maxTokens)
    return new SentenceModel(runtime, await runtime.open(parts.weights), tokenize, parts)
  }

  get runtime(): RuntimeName {
    return this.#runtime.name
  }

  async embed(text: string): Promise<Float32Array> {
    const ids = this.#tokenize(text)
    const results = await this.#session.run(this.#inputs(ids))
    try {
      const unit = toUnit(this.#toVector(this.#pickOutput(results), ids.length))
      if (unit === null) throw new Error('the model gave a vector that is zero or not finite')
      return unit
    } finally {
      for (const tensor of Object.values(results)) tensor.dispose()
    }
  }

  /**
   * Input tensors, limited to those that the model declares. The built-in model has no attention mask, because a text that is run alone has
   * no padding to hide.
   */
  #inputs(ids: readonly number[]): Record<string, Tensor> {
    const values: Record<string, () => BigInt64Array> = {
      input_ids: () => BigInt64Array.from(ids, BigInt),
      attention_mask: () => new BigInt64Array(ids.length).fill(1n),
      token_type_ids: () => new BigInt64Array(ids.length),
    }
    const taken = Object.entries(values).filter(([name]) => this.#session.inputNames.includes(name))
    const shape = [1, ids.length]
    return Object.fromEntries(taken.map(([name, make]) => [name, new this.#runtime.Tensor('int64', make(), shape)]))
  }

  #pickOutput(results: InferenceSession.ReturnType): Tensor {
    const output = results['last_hidden_state'] ?? results[this.#session.outputNames[0] as string]
    if (output === undefined) throw new Error('the model gave no output')
    return output
  }

  /**
   * Tells apart the two kinds of model output: most models return one vector per token, which must be pooled; some pool them and return one
   * vector per text.
   */
  #toVector(output: Tensor, tokens: number): ArrayLike<number> {
    const { dimensions, pooling } = this.#parts
    if (output.type !== 'float32' || output.dims.at(-1) !== dimensions) {
      throw new Error(`the manifest says ${dimensions} dimensions, the model gave ${output.type}[${output.dims}]`)
    }
    const values = output.data as Float32Array
    return output.dims.length === 2 ? values : pool(values, tokens, dimensions, pooling)
  }
}

/** Pools token vectors into one vector: `mean` over all tokens, special ones included, or the vector of the first token (`cls`). */
export type Pooling = 'mean' | 'cls'

/** `tokenVectors` holds `tokens` rows of `dimensions` numbers. The sum is computed in double precision, in token order. */
export function pool(tokenVectors: Float32Array, tokens: number, dimensions: number, pooling: Pooling): Float64Array {
  const rows = pooling === 'cls' ? 1 : tokens
  const sum = new Float64Array(dimensions)
  for (let row = 0; row < rows; row++) {
    const start = row * dimensions
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (tokenVectors[start + i] as number)
  }
  for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) / rows
  return sum
}
