/** Whether every text has a vector, and whether the embedder would make one. */
import { type Embedder, modelKey } from '../../embed/embedder.ts'
import type { Store } from '../../store/store.ts'
import { HARMLESS, type Refused } from '../background/embedding.ts'
import { orStopped } from '../or-stopped.ts'
import { NATIVE_HELP } from '../runtime-notice.ts'
import { type Examined, finding } from './finding.ts'

export interface EmbeddingToExamine {
  readonly embedder: Embedder | null
  readonly embedderError: string | null
  /** Chunks set aside; null when this engine embeds nothing. */
  readonly refused: Refused | null
  /** Ends the wait for an embedder that does not answer. */
  readonly signal: AbortSignal
}

/** The first use of a local model takes a second, a provider with retries a few. */
const PATIENCE_MS = 60_000

export function vectorsFinding({ embedder, refused }: EmbeddingToExamine, store: Store): Examined {
  if (embedder === null) return finding('vectors', true, 'no embedder: questions are answered from words')
  const all = store.partitions().map(partition => partition.id)
  const [chunks, vectors] = [store.countChunks(all), store.countVectors(modelKey(embedder.model), all)]
  return finding(
    'vectors',
    vectors === chunks,
    `${vectors} of ${chunks} chunks have a vector${refusal(refused)}`,
    'Run `querent add` again, or keep `querent serve` running: vectors follow in the background.',
  )
}

function refusal(refused: Refused | null): string {
  return refused?.message ? `; the embedder refuses ${refused.count}: ${refused.message}` : ''
}

export async function embedderFinding({ embedder, embedderError, signal }: EmbeddingToExamine): Promise<Examined> {
  if (embedder === null) {
    const help = 'Run `npm run model` in a checkout, or set QUERENT_EMBEDDER=none.'
    return finding('embedder', embedderError === null, embedderError ?? 'switched off', help)
  }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const [vector] = await orStopped(embedder.embed([HARMLESS], 'query', stop), stop)
    const ok = vector !== undefined && vector.length === embedder.model.dimensions
    const message = `${embedder.model.id} answers with ${vector?.length ?? 0} dimensions${runOf(embedder)}`
    return finding('embedder', ok, message)
  } catch (error) {
    const message = stop.aborted ? `${embedder.model.id} has not answered` : String((error as Error).message ?? error)
    return finding('embedder', false, message, 'Check the provider.')
  }
}

function runOf({ runsOn }: Embedder): string {
  const run = runsOn?.()
  if (run === undefined) return ''
  if (run.runtime === 'native') return `, native runtime, workers: ${run.workers}`
  return `, WebAssembly runtime, workers: ${run.workers}; ${NATIVE_HELP}`
}
