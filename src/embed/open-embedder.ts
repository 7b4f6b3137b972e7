/** Opens the embedder that the configuration names. */

import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { QuerentError } from '../model/errors.ts'
import type { Embedder, RuntimeName } from './embedder.ts'
import type { HttpEmbedderOptions } from './http-embedder.ts'

/**
 * Settings of an embedder in the configuration file. For a local model other than the built-in one, `{ provider: 'local', folder:
 * 'models/e5' }` is enough.
 */
export type EmbedderSettings = { readonly provider: 'none' } | LocalSettings | RemoteSettings

export interface LocalSettings {
  readonly provider: 'local'
  /** Folder of the local model. Default: the model that is part of this package. */
  readonly folder?: string | undefined
  readonly threads?: number | undefined
  readonly runtime?: RuntimeName | undefined
}

/**
 * Settings of an embedding provider reached over HTTP. The API key itself is not part of the settings: `apiKeyEnv` names the environment
 * variable that holds it.
 */
export interface RemoteSettings extends Omit<HttpEmbedderOptions, 'apiKey' | 'calibration' | 'sleep'> {
  /** Name of the environment variable that holds the API key: a key written into a file easily ends up in a repository. */
  readonly apiKeyEnv?: string | undefined
}

const remote = {
  model: z.string().min(1).max(200).describe("The model's name"),
  baseUrl: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe("Address of a compatible server. Default: the provider's own"),
  apiKeyEnv: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Variable of the environment that holds the key. Default: OPENAI_API_KEY, for OpenAI's own address only"),
  dimensions: z
    .number()
    .int()
    .min(1)
    .max(16_384)
    .optional()
    .describe('Dimensions of the vectors. Default: those of the model'),
  maxTokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe("Longest text in tokens; longer ones are cut. Default: the provider's"),
  prefixes: z
    .strictObject({
      query: z.string().describe('Text put before queries'),
      passage: z.string().describe('Text put before passages'),
    })
    .optional()
    .describe('Prefixes that the model expects. Default: none'),
  languages: z.array(z.string()).optional().describe('Languages that the model knows. Default: unknown'),
  cosineScale: z
    .number()
    .positive()
    .optional()
    .meta({ description: 'Rescales cosines of models that use only a part of 0 to 1', default: 1 }),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(600_000)
    .optional()
    .meta({ description: 'Time limit of one attempt, in milliseconds', default: 30_000 }),
  retries: z.number().int().min(0).max(10).optional().meta({ description: 'Attempts after the first one', default: 3 }),
}

export const embedderSettings: z.ZodType<EmbedderSettings> = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('none').describe('No embedder: queries are answered by words only') }),
  z.strictObject({
    provider: z.literal('local').describe('A model run in this process'),
    folder: z
      .string()
      .min(1)
      .optional()
      .describe('Folder of an ONNX model, relative to the home. Default: the built-in all-MiniLM-L6-v2'),
    threads: z
      .number()
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Passages that are embedded at once, each with a thread and a copy of the model. Default: one per core and GiB of memory, at most 4',
      ),
    runtime: z.enum(['native', 'wasm']).optional().describe('Default: native where it is installed'),
  }),
  z.strictObject({ provider: z.literal('openai').describe('Any server with the interface of OpenAI'), ...remote }),
  z.strictObject({ provider: z.literal('ollama').describe('An Ollama server'), ...remote }),
])

export interface EmbedderContext {
  /** Folder from which a relative path of a model folder is resolved. */
  readonly baseFolder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Time limit in milliseconds for the provider's request that learns the vector's number of components when the embedder is opened. */
  readonly openingMs?: number | undefined
  /** When to load the model. `first-use` is for commands that may never embed a text: opening the embedder then reads the manifest only. */
  readonly start?: 'now' | 'first-use' | undefined
}

/** Folder of the built-in model in the package; found both from `src` and from `dist`. */
export const PACKAGED_MODEL_FOLDER: string = fileURLToPath(new URL('../../model/all-MiniLM-L6-v2', import.meta.url))

/** Folder into which `npm run model:multilingual` installs the multilingual model. */
export const SECOND_MODEL_FOLDER: string = join(PACKAGED_MODEL_FOLDER, '../../model-multilingual')

/**
 * Opens the configured embedder; null for `none`, which means word search only. Rejects with `model_invalid` (no usable model folder; `npm
 * run model` builds the default one), `provider_failed` or `invalid_argument`; the caller decides whether to continue with words only. The
 * code of a provider is loaded when it is opened.
 */
export async function openEmbedder(settings: EmbedderSettings, context: EmbedderContext): Promise<Embedder | null> {
  switch (settings.provider) {
    case 'none':
      return null
    case 'local': {
      const { folder, threads, runtime } = settings
      const { openLocalEmbedder } = await import('./local-embedder.ts')
      return openLocalEmbedder({ folder: resolveFolder(folder, context), threads, runtime, start: context.start })
    }
    case 'openai':
    case 'ollama': {
      const { apiKeyEnv: _, ...options } = settings
      const { openHttpEmbedder } = await import('./http-embedder.ts')
      return openHttpEmbedder({ ...options, apiKey: findKey(settings, context), openingMs: context.openingMs })
    }
  }
}

function resolveFolder(folder: string | undefined, context: EmbedderContext): string {
  if (folder === undefined) return PACKAGED_MODEL_FOLDER
  return isAbsolute(folder) ? folder : join(context.baseFolder, folder)
}

/** OPENAI_API_KEY is sent to OpenAI's own address only: another server gets the key configured for it, or none. */
function findKey(settings: RemoteSettings, context: EmbedderContext): string | undefined {
  const { provider, apiKeyEnv, baseUrl } = settings
  if (apiKeyEnv === undefined) {
    return provider === 'openai' && baseUrl === undefined ? context.env['OPENAI_API_KEY'] : undefined
  }
  const key = context.env[apiKeyEnv]
  if (key) return key
  throw new QuerentError('invalid_argument', `apiKeyEnv: the environment variable ${apiKeyEnv} is not set`, {
    field: 'apiKeyEnv',
    value: apiKeyEnv,
    expected: 'the name of a variable that is set',
  })
}

// Words that the built-in model's vocabulary contains in full; used to recognise correctly spelt English words and names. Null before the
// first use.

let words: ReadonlySet<string> | null = null

/**
 * Whether the built-in model has a token for the whole word, in lower case. Its vocabulary has 20,000 frequent words, names and word forms,
 * without common misspellings. The first call reads the tokenizer file (700 kB, about 10 ms). Without such a file it returns false for
 * every word.
 */
export function isEnglishWord(word: string): boolean {
  words ??= readWords()
  return words.has(word)
}

function readWords(): ReadonlySet<string> {
  try {
    const tokenizer = JSON.parse(readFileSync(join(PACKAGED_MODEL_FOLDER, 'tokenizer.json'), 'utf8'))
    return new Set(Object.keys(tokenizer.model.vocab))
  } catch {
    return new Set()
  }
}
