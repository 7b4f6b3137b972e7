/**
 * A Qdrant server or cluster as a source: collections of other programs, searched where they are, and collections that `mirror` wrote, one
 * per partition. Searches dense vectors; where a collection also has sparse vectors that the server makes from a text, the server fuses
 * both orders.
 */
import type { QdrantClient } from '@qdrant/js-client-rest'
import type { AccessScope } from '../model/viewer.ts'
import type { CollectionAnswer, NumericDate, Source } from '../pipeline/source.ts'
import { askEach } from './ask-each.ts'
import { malformed, notFound, SourceFailure, wrongDimensions } from './failure.ts'
import { foldEntries, MIRRORED_DATE } from './mirrored.ts'
import { type AccessOptions, together, type VectorRequest, visibleCollections } from './partitions.ts'
import { isMissing, type QdrantAddress, QdrantClients, qdrantFailure } from './qdrant-client.ts'
import { type Found, nearest, type PointOptions, recordOf, spaceOf, withText } from './qdrant-points.ts'

export interface QdrantSourceOptions extends QdrantAddress, AccessOptions, PointOptions {
  readonly name: string
  /** Name of the vector to search; required where the collection has several. */
  readonly vectorName?: string | undefined
  readonly numericDate?: NumericDate | undefined
}

/** Opens a Qdrant source. Throws `invalid_argument` for an invalid address; nothing is sent to the server yet. */
export function openQdrantSource(options: QdrantSourceOptions): Source {
  const clients = new QdrantClients(options)
  return {
    name: options.name,
    kind: 'qdrant',
    ask: request =>
      askEach(options.name, request, async collection => {
        const { vector, deadline } = request
        if (vector === null) throw new SourceFailure('no_vector', `${collection}: there is no embedder for the query`)
        try {
          const client = await clients.client(deadline.leftMs)
          const found = await findCollections(client, collection, request.accessScope, options)
          const asked = { ...request, vector }
          const answers = await Promise.all(found.map(one => askCollection(client, one, collection, asked, options)))
          return together(answers, request.limit)
        } catch (thrown) {
          throw qdrantFailure(thrown, collection, options.url, vector.length)
        }
      }),
    close: () => Promise.resolve(),
  }
}

/**
 * Finds the collections on the server that a request for one collection name must search. Throws `SourceFailure` when the server has none.
 */
async function findCollections(
  client: QdrantClient,
  name: string,
  accessScope: AccessScope,
  options: QdrantSourceOptions,
): Promise<readonly Found[]> {
  const found = await visibleCollections(name, accessScope, options, (nameThere, isMirrored) =>
    describe(client, nameThere, isMirrored, options),
  )
  if (found.length === 0) throw notFound(name)
  return found
}

async function describe(
  client: QdrantClient,
  name: string,
  isMirrored: boolean,
  options: QdrantSourceOptions,
): Promise<Found | null> {
  const info = await client.getCollection(name).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (info === null) return null
  const vectors: unknown = info.config?.params?.vectors
  if (isVectorParams(vectors))
    return { name, isMirrored, vectorName: null, size: vectors.size, distance: vectors.distance }
  const named = Object.entries((vectors ?? {}) as Record<string, unknown>)
  const [vectorName, params] =
    named.find(([key]) => key === options.vectorName) ?? (named.length === 1 ? (named[0] ?? []) : [])
  if (vectorName === undefined || !isVectorParams(params))
    throw malformed(name, 'the setting vector does not name one of its vectors')
  return { name, isMirrored, vectorName, size: params.size, distance: params.distance }
}

function isVectorParams(value: unknown): value is { readonly size: number; readonly distance: string } {
  const { size, distance } = (value ?? {}) as { readonly size?: unknown; readonly distance?: unknown }
  return typeof size === 'number' && typeof distance === 'string'
}

async function askCollection(
  client: QdrantClient,
  found: Found,
  collection: string,
  request: VectorRequest,
  options: QdrantSourceOptions,
): Promise<CollectionAnswer> {
  const { vector, limit } = request
  if (found.size !== vector.length) throw wrongDimensions(collection, found.size, vector.length)
  const space = spaceOf(found, collection)
  for (let asked = found.isMirrored ? limit * 2 : limit; ; asked *= 2) {
    const points = await nearest(client, found, { ...request, limit: asked }, options)
    if (!Array.isArray(points)) throw malformed(collection, 'the answer holds no points')
    const all = points.map(point => recordOf(point, space, found, vector, options))
    const records = found.isMirrored ? foldEntries(all) : all
    const isAll = points.length < asked
    if (!isAll && records.length < limit && !request.deadline.over) continue
    return {
      collection,
      space: space.as,
      records: await withText(client, found, records.slice(0, limit)),
      exhausted: isAll && records.length <= limit,
      deviation: null,
      numericDate: found.isMirrored ? MIRRORED_DATE : (options.numericDate ?? null),
      error: null,
    }
  }
}
