/** Embedders that call a provider over HTTP: OpenAI and compatible servers, and Ollama. */
import { setTimeout as wait } from 'node:timers/promises'
import { canonicalJson, sha256 } from '../base/canonical.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { Calibration, Embedder, EmbeddingModel } from './embedder.ts'
import { cutText, toUnit } from './embedder.ts'
import { DIALECTS, type Dialect, type ProviderName } from './http-dialects.ts'
import { type ProviderAccess, postJson, providerFailed, type Sleep, textRefused } from './provider-request.ts'

export interface HttpEmbedderOptions {
  readonly provider: ProviderName
  readonly model: string
  /** Base address of the provider. Default: OpenAI's own address, or Ollama on this machine. */
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  /**
   * Number of components of a vector. The provider is asked for this number (OpenAI only), and a response with another number is an error.
   * If omitted, one request when the embedder is opened learns the number.
   */
  readonly dimensions?: number | undefined
  readonly maxTokens?: number | undefined
  /** Prefixes for queries and passages, which some models need; nomic, for example, needs `search_query: ` and `search_document: `. */
  readonly prefixes?: { readonly query: string; readonly passage: string } | undefined
  readonly languages?: readonly string[] | undefined
  readonly calibration?: Calibration | null | undefined
  readonly cosineScale?: number | undefined
  /** Time limit for one attempt of a request to the provider, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /**
   * Time limit in milliseconds for the request that learns the vector's number of components when the embedder is opened. If set, that
   * request is not retried. Default: `timeoutMs`, with retries.
   */
  readonly openingMs?: number | undefined
  /** Maximum number of further attempts after a failed first request to the provider. Default 3. */
  readonly retries?: number | undefined
  readonly sleep?: Sleep | undefined
}

/**
 * Maximum number of texts in one request. A provider embeds each text separately, so the other texts of a request do not change a vector.
 */
const BATCH = 64
/**
 * Number of UTF-16 units of text allowed per token of the model's limit: texts are cut by length, because the provider's tokenizer is not
 * available. In no usual language does a text of this length have more tokens than the limit.
 */
const CHARACTERS_PER_TOKEN = 2

export async function openHttpEmbedder(options: HttpEmbedderOptions): Promise<Embedder> {
  const { model, dimensions, openingMs, prefixes = { query: '', passage: '' } } = options
  const dialect = DIALECTS[options.provider]
  const access = makeAccess(options, dialect)
  const maxTokens = options.maxTokens ?? dialect.defaultMaxTokens

  async function ask(texts: readonly string[], signal?: AbortSignal, of = access): Promise<readonly Float32Array[]> {
    const answer = await postJson(of, dialect.body(model, texts, dimensions), signal)
    return readVectors(access, dialect, answer, texts.length)
  }

  const opening =
    openingMs === undefined ? access : { ...access, retries: 0, timeoutMs: Math.min(access.timeoutMs, openingMs) }
  const found = dimensions ?? (await ask(['dimensions'], undefined, opening))[0]?.length ?? 0
  const embeddingModel: EmbeddingModel = {
    id: `${options.provider}/${model}`,
    // The key under which vectors are stored does not depend on the provider's address, because the same model gives the same vectors at
    // another address.
    hash: sha256(canonicalJson({ provider: options.provider, model, dimensions: found, prefixes })),
    dimensions: found,
    maxTokens,
    languages: options.languages ?? [],
    calibration: options.calibration ?? null,
    cosineScale: options.cosineScale ?? 1,
  }
  return {
    model: embeddingModel,
    async embed(texts, kind, signal) {
      const inputs = texts.map(text => cutText(prefixes[kind] + text, maxTokens * CHARACTERS_PER_TOKEN))
      const vectors: Float32Array[] = []
      for (let from = 0; from < inputs.length; from += BATCH) {
        const batch = await ask(inputs.slice(from, from + BATCH), signal)
        for (const vector of batch) checkDimensions(access, vector, found)
        vectors.push(...batch)
      }
      return vectors
    },
    close: async () => {},
  }
}

function makeAccess(options: HttpEmbedderOptions, dialect: Dialect): ProviderAccess {
  const { provider, apiKey, timeoutMs = 30_000, retries = 3 } = options
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, { signal }))
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    // The error message must not contain the value, because it is an API key.
    throw new QuerentError('invalid_argument', 'apiKey: expected visible ASCII characters only', { field: 'apiKey' })
  }
  const url = makeUrl(options.baseUrl ?? dialect.defaultBaseUrl, dialect.path)
  return { provider, url, apiKey, timeoutMs, retries, sleep }
}

function makeUrl(baseUrl: string, path: string): URL {
  const base = URL.parse(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
  const isPlain = base !== null && /^https?:$/.test(base.protocol) && base.search === '' && base.hash === ''
  if (!isPlain) throw invalidArgument('baseUrl', baseUrl, 'an http or https address without query and fragment')
  if (base.username !== '' || base.password !== '') {
    throw new QuerentError('invalid_argument', 'baseUrl: expected an address without user and password; use apiKey', {
      field: 'baseUrl',
    })
  }
  return new URL(path, base)
}

function readVectors(
  access: ProviderAccess,
  dialect: Dialect,
  answer: unknown,
  expected: number,
): readonly Float32Array[] {
  let rows: readonly (readonly number[])[]
  try {
    rows = dialect.read(answer)
  } catch (error) {
    throw providerFailed(access, 'answered in a form without vectors', 200, error)
  }
  if (rows.length !== expected) {
    throw providerFailed(access, `expected ${expected} vectors, found ${rows.length}`, 200)
  }
  return rows.map(row => {
    const unit = toUnit(row)
    if (unit === null) throw textRefused(access, 'a vector is empty, zero or not finite', 200)
    return unit
  })
}

function checkDimensions(access: ProviderAccess, vector: Float32Array, expected: number): void {
  if (vector.length === expected) return
  throw providerFailed(access, `expected vectors of ${expected} dimensions, found ${vector.length}`, 200)
}
