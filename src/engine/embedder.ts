/** Opens the embedder of an engine: an object given by the program that embeds Querent, or the one that the settings name. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedder } from '../embed/embedder.ts'
import { type EmbedderSettings, openEmbedder } from '../embed/open-embedder.ts'
import { QuerentError } from '../model/errors.ts'

/** Number of query vectors in the cache, so that the same query is not embedded twice. */
const QUERY_CACHE = 1_000

export interface StartedEmbedder {
  readonly embedder: Embedder | null
  /** Why the engine has no embedder although the settings ask for one; null: it has one, or none is wanted. */
  readonly error: string | null
}

interface GivenOptions {
  readonly embedder?: GivenEmbedder | 'none' | undefined
  readonly warm?: boolean | undefined
  readonly embedderTimeoutMs?: number | undefined
}

/**
 * Opens the embedder of an engine. Rejects only if a setting is wrong; after any other failure the engine has no embedder, and queries are
 * answered by word search.
 */
export async function startEmbedder(
  { embedder: given, warm, embedderTimeoutMs: openingMs }: GivenOptions,
  settings: EmbedderSettings,
  baseFolder: string,
): Promise<StartedEmbedder> {
  if (isEmbedder(given)) return { embedder: await ready(given), error: null }
  try {
    const embedder = await openEmbedder(settings, {
      baseFolder,
      env: process.env,
      openingMs,
      start: warm === true ? 'now' : 'first-use',
    })
    return { embedder: embedder && (await ready(embedder)), error: null }
  } catch (error) {
    if (error instanceof QuerentError && error.kind !== 'usage') return { embedder: null, error: error.message }
    throw error
  }
}

/**
 * Opens the engine's second embedding model, for texts in languages that the first does not know; null: none is wanted. `folder`: the model
 * folder from the settings, relative to the home. Rejects with `model_invalid`.
 */
export async function startSecond(
  given: Embedder | string | undefined,
  folder: string | undefined,
  home: string = process.cwd(),
): Promise<Embedder | null> {
  const wanted = given ?? folder
  if (wanted === undefined) return null
  if (typeof wanted !== 'string') return ready(wanted)
  const settings = { provider: 'local', folder: wanted } as const
  const opened = await openEmbedder(settings, { baseFolder: home, env: process.env, start: 'first-use' })
  return opened && ready(opened)
}

async function ready(embedder: Embedder): Promise<Embedder> {
  const { checkEmbedder } = await import('../embed/checked-embedder.ts')
  const { cacheQueries } = await import('../embed/query-cache.ts')
  return cacheQueries(checkEmbedder(embedder), QUERY_CACHE)
}

/** The embedder option of an engine: an `Embedder` object of the calling program, or settings from which an embedder is opened. */
export type GivenEmbedder = Embedder | EmbedderSettings

export function isEmbedder(given: GivenEmbedder | 'none' | undefined): given is Embedder {
  return typeof given === 'object' && given !== null && 'embed' in given
}

/**
 * Advice for the case that the native ONNX Runtime is missing. Its npm package contains the library, but on Linux x64 its install script
 * downloads GPU libraries that Querent does not use, and npm silently drops an optional package whose script fails.
 */
export const NATIVE_HELP: string =
  'for the faster native runtime, install Querent again with ONNXRUNTIME_NODE_INSTALL=skip in the environment (this skips a download for GPUs)'

/** Name of the file in the home that is written when the notice about the WebAssembly runtime has been shown, so that it is shown once. */
const MARK = 'wasm-notice'

/**
 * A notice for the owner that the built-in model runs on WebAssembly because the native runtime is missing; null if it does not, or if the
 * notice was already shown for this home.
 */
export function runtimeNotice(homeFolder: string | null, embedder: Embedder | null): string | null {
  if (homeFolder === null || embedder?.runsOn?.().runtime !== 'wasm') return null
  const line = `using the slower WebAssembly runtime; ${NATIVE_HELP}`
  try {
    writeFileSync(join(homeFolder, MARK), `${line}\n`, { flag: 'wx', mode: 0o600 })
    return line
  } catch {
    return null // the notice was shown before, or the home is not writable; the engine's status also says so
  }
}
