/** Searches points (records) of Qdrant and converts them to records of the source contract. */
import type { QdrantClient, Schemas } from '@qdrant/js-client-rest'
import type { JsonObject } from '../base/canonical.ts'
import type { SourceRecord, SourceRequest, Space } from '../pipeline/source.ts'
import { malformed, SourceFailure } from './failure.ts'
import { entryOf, recordFrom, withTexts } from './mirrored.ts'
import type { VectorRequest } from './partitions.ts'
import { isUnknownCall } from './qdrant-client.ts'

export interface PointOptions {
  /** The payload key that contains a point's text; absent: the first existing one of the usual keys. */
  readonly contentKey?: string | undefined
  /**
   * Search by a sparse vector in addition to the dense one. `vectorName`: name of the sparse vector in the collection; `model`: the
   * server's model that makes one from the query's text. The server joins both result orders by the results' ranks (reciprocal rank
   * fusion).
   */
  readonly sparse?: { readonly vectorName: string; readonly model: string } | undefined
  /**
   * Which of two search calls of the server is tried first: `points/search` if true, otherwise `points/query` (default). Where the server
   * does not support the first, the other is used.
   */
  readonly searchFirst?: boolean | undefined
}

export interface Found {
  readonly name: string
  readonly isMirrored: boolean
  /** Name of the vector that is searched; null: the collection has a single vector without a name. */
  readonly vectorName: string | null
  readonly size: number
  readonly distance: string
}

/** Payload keys under which programs usually keep a point's text. */
const CONTENT_KEYS = ['document', 'content', 'text', 'page_content'] as const

interface Point {
  readonly id: string | number
  readonly score: number
  readonly payload?: Record<string, unknown> | null | undefined
  readonly vector?: unknown
}

export async function nearest(
  client: QdrantClient,
  found: Found,
  request: VectorRequest,
  options: PointOptions,
): Promise<readonly Point[]> {
  if (options.sparse !== undefined) return queried(client, found, request, options.sparse)
  const ways = [queried, searched]
  const [first, other] = (options.searchFirst === true ? ways.reverse() : ways) as [Way, Way]
  try {
    return await first(client, found, request)
  } catch (thrown) {
    if (!isUnknownCall(thrown)) throw thrown
    return other(client, found, request)
  }
}

type Way = (client: QdrantClient, found: Found, request: VectorRequest) => Promise<readonly Point[]>

/** Searches with the call `points/search` of servers before version 1.10, which newer servers no longer support. */
function searched(
  client: QdrantClient,
  { name, vectorName }: Found,
  { vector, limit, where, anyTags }: VectorRequest,
): Promise<readonly Point[]> {
  const named = vectorName === null ? [...vector] : { name: vectorName, vector: [...vector] }
  return client.search(name, { vector: named, limit, with_payload: true, ...narrowing(where, anyTags) })
}

async function queried(
  client: QdrantClient,
  { name, vectorName }: Found,
  { vector, text, limit, where, anyTags }: VectorRequest,
  sparse?: PointOptions['sparse'],
): Promise<readonly Point[]> {
  const narrow = narrowing(where, anyTags)
  const dense = { query: [...vector], limit, ...narrow, ...(vectorName === null ? {} : { using: vectorName }) }
  if (sparse === undefined) return (await client.query(name, { ...dense, with_payload: true })).points
  const words = { query: { text, model: sparse.model }, using: sparse.vectorName, limit, ...narrow }
  const answer = await client.query(name, {
    prefetch: [dense, words],
    query: { fusion: 'rrf' },
    limit,
    with_payload: true,
    // Scores fused from two orders do not measure similarity in meaning, so the vectors are requested and the distance is computed from
    // them here.
    with_vector: vectorName === null ? true : [vectorName],
  })
  return answer.points
}

function narrowing(where: SourceRequest['where'], anyTags: readonly string[]): { filter?: Schemas['Filter'] } {
  const filter = filterOf(where, anyTags)
  return filter === null ? {} : { filter }
}

function filterOf(where: SourceRequest['where'], anyTags: readonly string[]): Schemas['Filter'] | null {
  const must = where.map(({ key, op, value }) =>
    op === 'eq' ? { key, match: { value } } : { key, range: { [op]: value } },
  )
  const should = anyTags.map(value => ({ key: 'tags', match: { value } }))
  if (must.length + should.length === 0) return null
  return { ...(must.length === 0 ? {} : { must }), ...(should.length === 0 ? {} : { should }) } as Schemas['Filter']
}

export interface Measure {
  readonly as: Space
  /** Converts a score that Qdrant returns to a distance. */
  readonly distance: (score: number) => number
}

export function spaceOf({ distance }: Found, collection: string): Measure {
  switch (distance) {
    case 'Cosine':
      return { as: 'cosine', distance: score => 1 - score }
    case 'Dot':
      return { as: 'ip', distance: score => 1 - score }
    case 'Euclid':
      return { as: 'l2', distance: score => score * score }
    default:
      throw new SourceFailure('query_failed', `${collection}: its distance, ${distance}, has no similarity`)
  }
}

export function recordOf(
  point: Point,
  space: Measure,
  { isMirrored }: Found,
  vector: Float32Array,
  { contentKey, sparse }: PointOptions,
): SourceRecord {
  const { id, score, payload } = point
  if (typeof score !== 'number' || (typeof id !== 'string' && typeof id !== 'number')) {
    throw malformed('points', 'one has no id or no score')
  }
  const keys = isMirrored || contentKey === undefined ? CONTENT_KEYS.slice(0, isMirrored ? 1 : undefined) : [contentKey]
  const key = keys.find(name => typeof payload?.[name] === 'string')
  const metadata = Object.fromEntries(Object.entries(payload ?? {}).filter(([name]) => name !== key)) as JsonObject
  const distance = space.distance(sparse === undefined ? score : scoreOf(point, space, vector))
  return recordFrom(String(id), key === undefined ? null : String(payload?.[key]), metadata, distance)
}

/** Adds texts to records of a mirrored collection that lack them: only the record of an entry's first chunk contains the entry's text. */
export async function withText(
  client: QdrantClient,
  { name, isMirrored }: Found,
  records: readonly SourceRecord[],
): Promise<readonly SourceRecord[]> {
  const bare = isMirrored ? records.filter(record => record.content === null) : []
  if (bare.length === 0) return records
  const { points } = await client.scroll(name, {
    filter: {
      must: [
        { key: 'querent_head', match: { value: true } },
        { key: 'querent_id', match: { any: bare.map(({ id }) => id) } },
      ],
    },
    // The limit is ten times the number of missing texts, since in the public partition several holders may use an id.
    limit: bare.length * 10,
    with_payload: ['querent_id', 'querent_holder', 'document'],
  })
  return withTexts(records, new Map(points.map(({ payload }) => [entryOf(payload), payload?.['document']])))
}

/**
 * Similarity of the query's vector and a point's dense vector, on the scale on which the server scores. For a collection with cosine metric
 * this is the inner product, since Qdrant keeps its vectors at length 1.
 */
function scoreOf({ vector: stored }: Point, space: Measure, asked: Float32Array): number {
  const values = (Array.isArray(stored) ? stored : Object.values((stored ?? {}) as object)[0]) as
    | readonly number[]
    | undefined
  if (!Array.isArray(values)) throw malformed('points', 'one came without its vector')
  if (space.as === 'l2') return Math.hypot(...values.map((value, at) => value - (asked[at] ?? 0)))
  return values.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0)
}
