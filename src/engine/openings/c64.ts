/** The lens `c64` with what it needs of the world: a Qdrant server and an embedder, opened when they are first asked. */
import { openEmbedder } from '../../embed/open-embedder.ts'
import { type C64LensOptions, c64Lens } from '../../lenses/c64/c64-lens.ts'
import type { Remote } from '../../lenses/c64/search/remote.ts'
import type { C64Settings } from '../../lenses/c64/settings.ts'
import type { Lens } from '../../lenses/lens.ts'
import { QuerentError } from '../../model/errors.ts'
import { openQdrantSource } from '../../sources/qdrant.ts'
import type { Environment } from '../config.ts'

/** `environment`: QDRANT_URL, QDRANT_API_KEY, QDRANT_COLLECTION, EMBEDDING_MODEL, OPENAI_API_KEY. */
export function c64LensOf(options: C64LensOptions = {}, environment: Environment = process.env): Lens {
  const { QDRANT_URL, QDRANT_COLLECTION, EMBEDDING_MODEL } = environment
  return c64Lens(options, {
    variables: { QDRANT_URL, QDRANT_COLLECTION, EMBEDDING_MODEL },
    openRemote: settings => openRemote(settings, environment),
  })
}

async function openRemote(settings: C64Settings, environment: Environment): Promise<Remote> {
  const { qdrantUrl, qdrantPublic, embeddingModel, embeddingUrl } = settings
  const apiKey = environment['QDRANT_API_KEY'] || undefined
  if (embeddingUrl === undefined && !environment['OPENAI_API_KEY']) {
    const message = `OPENAI_API_KEY: it is not set; Qdrant is asked with vectors of ${embeddingModel}`
    throw new QuerentError('invalid_argument', message, { field: 'OPENAI_API_KEY' })
  }
  const source = openQdrantSource({ name: 'c64', url: qdrantUrl, apiKey, public: qdrantPublic, searchFirst: true })
  await mustAnswer(qdrantUrl, apiKey)
  const embedder = await openEmbedder(
    { provider: 'openai', model: embeddingModel, baseUrl: embeddingUrl, apiKeyEnv: keyNameFor(settings, environment) },
    { baseFolder: '.', env: environment },
  )
  if (embedder === null) throw new Error('invariant broken: a provider gives an embedder')
  return {
    source,
    embedder,
    close: async () => {
      await embedder.close()
      await source.close()
    },
  }
}

/** OpenAI's key goes to a server that the user named only when it is set: such a server may want none. */
function keyNameFor({ embeddingUrl }: C64Settings, environment: Environment): string | undefined {
  return embeddingUrl !== undefined && environment['OPENAI_API_KEY'] ? 'OPENAI_API_KEY' : undefined
}

const HEALTH_MS = 3_000

/** Told at once and by address: a question would fail later, and less clearly. */
async function mustAnswer(url: string, apiKey: string | undefined): Promise<void> {
  const fail = (why: string, cause?: unknown): QuerentError =>
    new QuerentError('provider_failed', `Qdrant at ${url} ${why}`, { url }, cause)
  const answer = await fetch(`${url.replace(/\/+$/, '')}/collections`, {
    headers: apiKey === undefined ? {} : { 'api-key': apiKey },
    signal: AbortSignal.timeout(HEALTH_MS),
  }).catch((error: unknown) => {
    const isLate = (error as Partial<Error>).name === 'TimeoutError'
    throw fail(isLate ? `does not answer within ${HEALTH_MS / 1_000} s` : 'cannot be reached', error)
  })
  await answer.body?.cancel()
  if (!answer.ok) throw fail(`answers with status ${answer.status}`)
}
