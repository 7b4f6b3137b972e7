/**
 * How the two kinds of embedding provider (OpenAI-compatible and Ollama) are called over HTTP: path, request format and response format.
 */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'

export type ProviderName = 'openai' | 'ollama'

export interface Dialect {
  readonly defaultBaseUrl: string
  /** Path of the embedding request, which is appended to the base address of the provider. */
  readonly path: string
  /** Maximum number of input tokens of the provider's usual models. */
  readonly defaultMaxTokens: number
  body(model: string, texts: readonly string[], dimensions: number | undefined): JsonObject
  /** Reads the vectors from a provider's response: one per text, in the order of the texts. Throws if the response has another format. */
  read(answer: unknown): readonly (readonly number[])[]
}

const vector = z.array(z.number())
const openaiAnswer = z.object({ data: z.array(z.object({ index: z.number().int().optional(), embedding: vector })) })
const ollamaAnswer = z.object({ embeddings: z.array(vector) })

export const DIALECTS: Readonly<Record<ProviderName, Dialect>> = {
  /** The protocol of OpenAI and of compatible servers: LM Studio, vLLM, llama.cpp, LiteLLM. */
  openai: {
    defaultBaseUrl: 'https://api.openai.com/v1',
    path: 'embeddings',
    defaultMaxTokens: 8191,
    // The field `dimensions` is sent only if it is configured, because many compatible servers refuse requests with a field that they do
    // not know.
    body: (model, texts, dimensions) => ({
      model,
      input: texts,
      encoding_format: 'float',
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    read: answer => {
      const rows = openaiAnswer.parse(answer).data.map((row, at) => ({ at: row.index ?? at, values: row.embedding }))
      return rows.sort((a, b) => a.at - b.at).map(row => row.values)
    },
  },
  ollama: {
    defaultBaseUrl: 'http://localhost:11434',
    path: 'api/embed',
    defaultMaxTokens: 2048,
    body: (model, texts) => ({ model, input: texts, truncate: true }),
    read: answer => ollamaAnswer.parse(answer).embeddings,
  },
}
