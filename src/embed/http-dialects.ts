/** How the two kinds of provider are asked: their paths, and the shapes of question and answer. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'

export type ProviderName = 'openai' | 'ollama'

export interface Dialect {
  readonly defaultBaseUrl: string
  /** Behind the base address. */
  readonly path: string
  /** Largest input of its usual models. */
  readonly defaultMaxTokens: number
  body(model: string, texts: readonly string[], dimensions: number | undefined): JsonObject
  /** One list of numbers a text, in the order of the texts; throws on another shape. */
  read(answer: unknown): readonly (readonly number[])[]
}

const vector = z.array(z.number())
const openaiAnswer = z.object({ data: z.array(z.object({ index: z.number().int().optional(), embedding: vector })) })
const ollamaAnswer = z.object({ embeddings: z.array(vector) })

export const DIALECTS: Readonly<Record<ProviderName, Dialect>> = {
  /** OpenAI, and all that speak like it: LM Studio, vLLM, llama.cpp, LiteLLM. */
  openai: {
    defaultBaseUrl: 'https://api.openai.com/v1',
    path: 'embeddings',
    defaultMaxTokens: 8191,
    // `dimensions` only on request: many compatible servers refuse a field they do not know.
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
