/** The embedder of an engine: the caller's own, or the configured one. */
import { checkEmbedder } from '../embed/checked-embedder.ts'
import type { Embedder } from '../embed/embedder.ts'
import { openEmbedder } from '../embed/open-embedder.ts'
import { cacheQueries } from '../embed/query-cache.ts'
import { QuerentError } from '../model/errors.ts'
import type { Config } from './config.ts'
import { isEmbedder } from './given-embedder.ts'
import type { Home } from './home.ts'
import type { EngineOptions } from './options.ts'

/** Vectors of questions kept, so that the same question is not embedded twice. */
const QUERY_CACHE = 1_000

export interface StartedEmbedder {
  readonly embedder: Embedder | null
  /** Why there is none although one was wanted, or null. */
  readonly error: string | null
}

/** Rejects for a wrong setting alone: without an embedder, words answer. */
export async function startEmbedder(
  { embedder: given, warm }: EngineOptions,
  config: Config,
  home: Home | null,
): Promise<StartedEmbedder> {
  if (isEmbedder(given)) return { embedder: ready(given), error: null }
  try {
    const embedder = await openEmbedder(config.embedder, {
      baseFolder: home?.folder ?? process.cwd(),
      env: process.env,
      start: warm === true ? 'now' : 'first-use',
    })
    return { embedder: embedder && ready(embedder), error: null }
  } catch (error) {
    if (error instanceof QuerentError && error.kind !== 'usage') return { embedder: null, error: error.message }
    throw error
  }
}

function ready(embedder: Embedder): Embedder {
  return cacheQueries(checkEmbedder(embedder), QUERY_CACHE)
}
