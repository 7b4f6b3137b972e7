/** The embedder of an engine: the caller's own, or the configured one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedder } from '../embed/embedder.ts'
import { type EmbedderSettings, openEmbedder } from '../embed/open-embedder.ts'
import { QuerentError } from '../model/errors.ts'

/** Vectors of questions kept, so that the same question is not embedded twice. */
const QUERY_CACHE = 1_000

export interface StartedEmbedder {
  readonly embedder: Embedder | null
  /** Why there is none although one was wanted, or null. */
  readonly error: string | null
}

interface GivenOptions {
  readonly embedder?: GivenEmbedder | 'none' | undefined
  readonly warm?: boolean | undefined
  readonly embedderTimeoutMs?: number | undefined
}

/** Rejects for a wrong setting alone: without an embedder, words answer. */
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

/** The second model of an engine; null: none was wanted. Rejects with `model_invalid`. `folder`: of the settings, from the home. */
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

/** An embedder as callers may give it: one of their own, or the settings of one to open. */
export type GivenEmbedder = Embedder | EmbedderSettings

export function isEmbedder(given: GivenEmbedder | 'none' | undefined): given is Embedder {
  return typeof given === 'object' && given !== null && 'embed' in given
}

/**
 * Why the native runtime may be missing: its package brings the library, but on Linux x64 its install script downloads GPU
 * libraries that Querent does not use, and npm drops an optional package whose script fails without a word.
 */
export const NATIVE_HELP: string =
  'for the faster native runtime, install Querent again with ONNXRUNTIME_NODE_INSTALL=skip in the environment (this skips a download for GPUs)'

/** In the home: written when the notice was given. */
const MARK = 'wasm-notice'

/** The line for the owner where the built-in model runs on WebAssembly, the first time in this home; null otherwise. */
export function runtimeNotice(homeFolder: string | null, embedder: Embedder | null): string | null {
  if (homeFolder === null || embedder?.runsOn?.().runtime !== 'wasm') return null
  const line = `using the slower WebAssembly runtime; ${NATIVE_HELP}`
  try {
    writeFileSync(join(homeFolder, MARK), `${line}\n`, { flag: 'wx', mode: 0o600 })
    return line
  } catch {
    return null // given before, or a home that cannot be written to: the status says it too
  }
}
