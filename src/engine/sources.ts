/**
 * Search sources other than the engine's own store (ChromaDB and Qdrant servers), named by the settings or by a lens. Each is opened when
 * it is first needed.
 */
import { must } from '../base/assert.ts'
import { openEmbedder } from '../embed/open-embedder.ts'
import type { Remotes } from '../lenses/lens.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import { partitionKey } from '../model/partition.ts'
import type { AccessScope } from '../model/viewer.ts'
import { LOCAL_SOURCE, type Source } from '../pipeline/source.ts'
import { openChromaSource } from '../sources/chromadb.ts'
import { openQdrantSource } from '../sources/qdrant.ts'
import type { Store } from '../store/store.ts'
import type { SourceSettings } from './options.ts'

export interface SourceParts {
  readonly store: Store
  readonly settings: Readonly<Record<string, SourceSettings>>
  readonly environment: Readonly<Record<string, string>>
}

export class SourceSet {
  readonly #parts: SourceParts
  readonly #opened = new Map<string, Source>()

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  get names(): readonly string[] {
    return [LOCAL_SOURCE, ...Object.keys(this.#parts.settings)]
  }

  /**
   * The source of this name, opened at the first call. Throws `invalid_argument` with the names of all sources if there is none of this
   * name.
   */
  get(name: string): Source {
    const opened = this.#opened.get(name) ?? this.#open(name)
    this.#opened.set(name, opened)
    return opened
  }

  async close(): Promise<void> {
    for (const source of this.#opened.values()) await source.close()
  }

  #open(name: string): Source {
    const { store, settings, environment } = this.#parts
    if (!Object.hasOwn(settings, name)) throw invalidArgument('store', name, `one of ${this.names.join(', ')}`)
    return openSource(name, settings[name] as SourceSettings, environment, accessScope => keysIn(accessScope, store))
  }
}

function keysIn({ partitions }: AccessScope, store: Store): readonly string[] {
  return store.partitions().flatMap(({ id, audience }) => (partitions.includes(id) ? [partitionKey(audience)] : []))
}

/** Opens a source from its settings. API keys come from the environment variables that the settings name. */
function openSource(
  name: string,
  settings: SourceSettings,
  environment: Readonly<Record<string, string>>,
  partitionKeys: (accessScope: AccessScope) => readonly string[],
): Source {
  const { url, public: isPublic, numeric_date: numericDate } = settings
  const common = { name, url, public: isPublic, numericDate, partitionKeys }
  const secret = (variable: string | undefined): string | undefined =>
    variable === undefined ? undefined : environment[variable]
  if (settings.kind === 'chromadb') {
    const { tenant, database, token_env, tags_key: tagsKey } = settings
    return openChromaSource({ ...common, tenant, database, tagsKey, token: secret(token_env) })
  }
  const { vector_name: vectorName, content_key: contentKey, sparse, api_key_env } = settings
  return openQdrantSource({
    ...common,
    vectorName,
    contentKey,
    apiKey: secret(api_key_env),
    sparse: sparse === undefined ? undefined : { vectorName: sparse.vector_name, model: sparse.model },
  })
}

const ANSWER_MS = 3_000

/** Functions that open servers and embedding providers that the settings of a lens name, in addition to the configured sources. */
export function remotesOf(environment: Readonly<Record<string, string>>): Remotes {
  return {
    openServer: async (name, { url, public: isPublic, keyVariable }) => {
      const apiKey = environment[keyVariable]
      const source = openQdrantSource({ name, url, apiKey, public: isPublic, searchFirst: true })
      await requireAnswer(url, apiKey)
      return source
    },
    openModel: async ({ model, url: baseUrl, keyVariable: apiKeyEnv }) => {
      const settings = { provider: 'openai', model, baseUrl, apiKeyEnv } as const
      return must(await openEmbedder(settings, { baseFolder: '.', env: environment }), 'the embedder of a provider')
    },
  }
}

/**
 * Checks that a server responds when a lens opens it, so that a failure is reported at once and with the server's address; the first query
 * would report it later and less clearly.
 */
async function requireAnswer(url: string, apiKey: string | undefined): Promise<void> {
  const fail = (why: string, cause?: unknown): QuerentError =>
    new QuerentError('provider_failed', `Qdrant at ${url} ${why}`, { url }, cause)
  const answer = await fetch(`${url.replace(/\/+$/, '')}/collections`, {
    headers: apiKey === undefined ? {} : { 'api-key': apiKey },
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: unknown) => {
    const isLate = (error as Partial<Error>).name === 'TimeoutError'
    throw fail(isLate ? `does not answer within ${ANSWER_MS / 1_000} s` : 'cannot be reached', error)
  })
  await answer.body?.cancel()
  if (!answer.ok) throw fail(`answers with status ${answer.status}`)
}
