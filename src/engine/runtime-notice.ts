/** What an owner should know about an installation that embeds slowly. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedder } from '../embed/embedder.ts'

/**
 * Why the native runtime may be missing: its package brings the library, but on Linux x64 its install script downloads GPU
 * libraries that Querent does not use, and npm drops an optional package whose script fails without a word.
 */
export const NATIVE_HELP: string =
  'for the native one, which is several times as fast, install Querent again with ONNXRUNTIME_NODE_INSTALL=skip in the environment'

/** In the home: written when the notice was given. */
const MARK = 'wasm-notice'

/** The line for the owner where the built-in model runs on WebAssembly, the first time in this home; null otherwise. */
export function runtimeNotice(homeFolder: string | null, embedder: Embedder | null): string | null {
  if (homeFolder === null || embedder?.runsOn?.().runtime !== 'wasm') return null
  const line = `the native ONNX Runtime is not installed, so WebAssembly embeds; ${NATIVE_HELP}`
  try {
    writeFileSync(join(homeFolder, MARK), `${line}\n`, { flag: 'wx', mode: 0o600 })
    return line
  } catch {
    return null // given before, or a home that cannot be written to: the status says it too
  }
}
