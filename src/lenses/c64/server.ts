/**
 * The lens `c64` over a Qdrant server, which ranks only by vector distance. The server is reached through the `source` interface that the
 * engine gives; this code makes no network call itself.
 */
import { Deadline } from '../../base/clock.ts'
import type { Embedder } from '../../embed/embedder.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import type { AccessScope } from '../../model/viewer.ts'
import type { Source, SourceError, SourceRecord } from '../../pipeline/source.ts'
import type { LensHost } from '../lens.ts'
import { type Enrichment, modeText } from './enrichment/enrich.ts'
import { merged, orderByTags, payloadOf, type SearchHit, trimByScore } from './enrichment/hits.ts'
import type { C64Settings, SearchSettings } from './settings.ts'

export interface Remote {
  readonly source: Source
  /** Embedder with the same model as the vectors of the server's collection. */
  readonly embedder: Embedder
  close(): Promise<void>
}

/** Name of the environment variable that holds the key of the embedding server. */
export const MODEL_KEY = 'OPENAI_API_KEY'

/**
 * Connects to the Qdrant server and opens an embedder for its collection. Rejects with `invalid_argument` where the engine may not contact
 * servers, or where embeddings come from OpenAI's own server and no key is set; and with `provider_failed` where Qdrant does not answer.
 */
export async function openRemote(
  { remote }: Pick<LensHost, 'remote'>,
  { qdrantUrl, qdrantPublic, embeddingModel, embeddingUrl }: C64Settings,
  hasModelKey: boolean,
): Promise<Remote> {
  if (remote === undefined) {
    const message = 'c64.backend: qdrant cannot be used here: this engine may not contact servers; set it to embedded'
    throw new QuerentError('invalid_argument', message, { field: 'backend' })
  }
  if (embeddingUrl === undefined && !hasModelKey) {
    const message = `${MODEL_KEY}: it is not set; Qdrant is queried with vectors of ${embeddingModel}`
    throw new QuerentError('invalid_argument', message, { field: MODEL_KEY })
  }
  const server = { url: qdrantUrl, public: qdrantPublic, keyVariable: 'QDRANT_API_KEY' }
  const source = await remote.openServer('c64', server)
  // An embedding server that the user named by URL may need no key, so a missing OpenAI key is no error there.
  const keyVariable = embeddingUrl !== undefined && hasModelKey ? MODEL_KEY : undefined
  const embedder = await remote.openModel({ model: embeddingModel, url: embeddingUrl, keyVariable })
  return {
    source,
    embedder,
    close: async () => {
      await embedder.close()
      await source.close()
    },
  }
}

/**
 * Searches all records when `tags` is empty, else the records with at least one of the tags. Returns at most `limit` records, best first;
 * records with more of the given tags rank higher.
 */
export type Search = (tags: readonly string[], limit: number) => Promise<readonly SearchHit[]>

/** Makes a search function for one text. The text is embedded once, however often the function is called. */
export async function searchFor(
  text: string,
  { source, embedder }: Remote,
  { qdrantCollection: collection, timeoutMs }: C64Settings,
  accessScope: AccessScope,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<Search> {
  const deadline = new Deadline(timeoutMs, signal)
  const [vector = null] = await embedder.embed([text], 'query', signal)
  return async (anyTags, limit) => {
    const request = {
      accessScope,
      collections: [collection],
      text,
      vector,
      limit,
      where: [],
      anyTags,
      deadline,
    }
    const [answer] = (await source.ask(request)).collections
    if (answer === undefined || answer.error !== null) throw failure(answer?.error ?? null, collection)
    return orderByTags(answer.records.map(hitOf), anyTags)
  }
}

export interface Searched {
  readonly hits: readonly SearchHit[]
  /** Which searches ran (all records, records with the query's tags, or both), as a text for the user. */
  readonly mode: string
}

/**
 * Runs the searches that the enrichment's strategy asks for (all records, records with the query's tags, or both), and merges their results
 * into one list.
 */
export async function runSearch(
  { strategy, filterTags }: Pick<Enrichment, 'strategy' | 'filterTags'>,
  search: Search,
  { limit, fetchLimit, minScoreRatio, fusion }: SearchSettings,
): Promise<Searched> {
  const size = Math.max(fetchLimit, limit)
  const [tagged, all] = await Promise.all([
    strategy !== 'semantic' ? search(filterTags, size) : [],
    strategy !== 'filtered' ? search([], size) : [],
  ])
  const finished = (hits: readonly SearchHit[], fellBack = false): Searched => ({
    hits: trimByScore(hits, minScoreRatio, limit),
    mode: modeText(strategy, filterTags, fellBack),
  })
  // Strategy `filtered`: where no record carries the query's tags, all records are searched, so that the answer is not empty.
  if (strategy === 'filtered' && tagged.length === 0) return finished(await search([], size), true)
  return finished(merged(strategy, { tagged, all }, fusion, size))
}

function hitOf({ id, title, content, tags, metadata, distance }: SourceRecord): SearchHit {
  return {
    id: /^(?:0|[1-9]\d{0,14})$/.test(id) ? Number(id) : id,
    score: distance === null ? 0 : 1 - distance,
    payload: payloadOf({
      ...metadata,
      ...(title === null ? {} : { title }),
      ...(content === null ? {} : { document: content }),
      ...(tags.length === 0 ? {} : { tags }),
    }),
  }
}

function failure(error: SourceError | null, collection: string): QuerentError {
  const { code = 'query_failed', message = `${collection}: no answer` } = error ?? {}
  if (code === 'cancelled') return new QuerentError('cancelled', message, {})
  if (code === 'timeout') return new QuerentError('deadline_exceeded', message, { collection })
  return new QuerentError('provider_failed', message, { collection, reason: code })
}
