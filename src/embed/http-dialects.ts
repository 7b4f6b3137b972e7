/** The HTTP protocols of the two kinds of embedding provider: path, request and response format. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'

export type ProviderName = 'openai' | 'ollama'

export interface Dialect {
  readonly defaultBaseUrl: string
  /** Path that is appended to the base address of the provider. */
  readonly path: string
  /** Maximum number of input tokens of the provider's usual models. */
  readonly defaultMaxTokens: number
  body(model: string, texts: readonly string[], dimensions: number | undefined): JsonObject
  /** Reads the response: one vector per text, in the order of the texts; throws if the format is wrong. */
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
    // `dimensions` is sent only if configured: many compatible servers refuse a field they do not know.
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
