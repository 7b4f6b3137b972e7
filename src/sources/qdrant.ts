/**
 * A Qdrant server or cluster as a source: collections of others' making asked in place, and collections that `mirror`
 * put there, by partition. Dense vectors; where a collection has sparse ones that the server makes of a text by itself,
 * both orders fused by the server.
 */
import type { QdrantClient, Schemas } from '@qdrant/js-client-rest'
import type { JsonObject } from '../base/canonical.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import type { CollectionAnswer, NumericDate, Source, SourceRecord, SourceRequest, Space } from '../pipeline/source.ts'
import { askEach } from './ask-each.ts'
import { malformed, notFound, SourceFailure, wrongDimensions } from './failure.ts'
import { foldEntries, MIRRORED_DATE, mirrorName, nearestFirst, recordFrom } from './mirrored.ts'
import { type QdrantAddress, QdrantClients, qdrantFailure } from './qdrant-client.ts'

export interface QdrantSourceOptions extends QdrantAddress {
  readonly name: string
  /** Keys of the partitions in sight, to find what was mirrored; absent: only what has the name is asked. */
  readonly partitionKeys?: ((sight: Sight) => readonly string[]) | undefined
  /** Whether viewers other than the owner may ask collections that were not mirrored (default false). */
  readonly public?: boolean | undefined
  /** Which of a collection's vectors; needed where it has several. */
  readonly vectorName?: string | undefined
  /** The payload key of the text; absent: the first of the usual ones that is there. */
  readonly contentKey?: string | undefined
  /** A sparse vector of the collection and the server's model that makes one of the question: fused by reciprocal ranks. */
  readonly sparse?: { readonly vectorName: string; readonly model: string } | undefined
  readonly numericDate?: NumericDate | undefined
}

/** Where others keep a point's text. */
const CONTENT_KEYS = ['document', 'content', 'text', 'page_content'] as const

/** Throws `invalid_argument` for an address that is none; reaches for nothing yet. */
export function openQdrantSource(options: QdrantSourceOptions): Source {
  const clients = new QdrantClients(options)
  return {
    name: options.name,
    kind: 'qdrant',
    ask: request =>
      askEach(options.name, request, async collection => {
        const { vector, deadline } = request
        if (vector === null) throw new SourceFailure('no_vector', `${collection}: nothing embedded the question`)
        try {
          const client = await clients.client(deadline.leftMs)
          const found = await findCollections(client, collection, request.sight, options)
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

interface Found {
  readonly name: string
  readonly isMirrored: boolean
  /** Null: the collection's one vector without a name. */
  readonly vectorName: string | null
  readonly size: number
  readonly distance: string
}

async function findCollections(
  client: QdrantClient,
  name: string,
  sight: Sight,
  options: QdrantSourceOptions,
): Promise<readonly Found[]> {
  const keys = options.partitionKeys?.(sight) ?? []
  const mirrored = await Promise.all(keys.map(key => describe(client, mirrorName(name, key), true, options)))
  const found = mirrored.filter(collection => collection !== null)
  if (found.length > 0) return found
  if (!isOwner(sight.viewer) && options.public !== true) throw notFound(name)
  const plain = await describe(client, name, false, options)
  if (plain === null) throw notFound(name)
  return [plain]
}

async function describe(
  client: QdrantClient,
  name: string,
  isMirrored: boolean,
  options: QdrantSourceOptions,
): Promise<Found | null> {
  const info = await client.getCollection(name).catch((error: unknown) => {
    if ((error as { status?: unknown }).status === 404) return null
    throw error
  })
  if (info === null) return null
  const vectors: unknown = info.config?.params?.vectors
  if (isVectorParams(vectors))
    return { name, isMirrored, vectorName: null, size: vectors.size, distance: vectors.distance }
  const named = Object.entries((vectors ?? {}) as Record<string, unknown>)
  const [vectorName, params] =
    named.find(([key]) => key === options.vectorName) ?? (named.length === 1 ? (named[0] ?? []) : [])
  if (vectorName === undefined || !isVectorParams(params)) throw malformed(name, 'it is not told which vector to ask')
  return { name, isMirrored, vectorName, size: params.size, distance: params.distance }
}

function isVectorParams(value: unknown): value is { readonly size: number; readonly distance: string } {
  const { size, distance } = (value ?? {}) as { readonly size?: unknown; readonly distance?: unknown }
  return typeof size === 'number' && typeof distance === 'string'
}

type AskRequest = Omit<SourceRequest, 'vector'> & { readonly vector: Float32Array }

async function askCollection(
  client: QdrantClient,
  found: Found,
  collection: string,
  request: AskRequest,
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

interface Point {
  readonly id: string | number
  readonly score: number
  readonly payload?: Record<string, unknown> | null | undefined
  readonly vector?: unknown
}

async function nearest(
  client: QdrantClient,
  { name, vectorName }: Found,
  { vector, text, limit, where, anyTags }: AskRequest,
  { sparse }: QdrantSourceOptions,
): Promise<readonly Point[]> {
  const filter = filterOf(where, anyTags)
  const narrow = filter === null ? {} : { filter }
  if (sparse === undefined) {
    const named = vectorName === null ? [...vector] : { name: vectorName, vector: [...vector] }
    return client.search(name, { vector: named, limit, with_payload: true, ...narrow })
  }
  const dense = { query: [...vector], limit, ...narrow, ...(vectorName === null ? {} : { using: vectorName }) }
  const words = { query: { text, model: sparse.model }, using: sparse.vectorName, limit, ...narrow }
  const answer = await client.query(name, {
    prefetch: [dense, words],
    query: { fusion: 'rrf' },
    limit,
    with_payload: true,
    // Fused scores say nothing of meaning: the distance is worked out here.
    with_vector: vectorName === null ? true : [vectorName],
  })
  return answer.points as readonly Point[]
}

function filterOf(where: SourceRequest['where'], anyTags: readonly string[]): Schemas['Filter'] | null {
  const must = where.map(({ key, op, value }) =>
    op === 'eq' ? { key, match: { value } } : { key, range: { [op]: value } },
  )
  const should = anyTags.map(value => ({ key: 'tags', match: { value } }))
  if (must.length + should.length === 0) return null
  return { ...(must.length === 0 ? {} : { must }), ...(should.length === 0 ? {} : { should }) } as Schemas['Filter']
}

interface Measure {
  readonly as: Space
  /** From the server's score. */
  readonly distance: (score: number) => number
}

function spaceOf({ distance }: Found, collection: string): Measure {
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

function recordOf(
  point: Point,
  space: Measure,
  { isMirrored }: Found,
  vector: Float32Array,
  { contentKey, sparse }: QdrantSourceOptions,
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

/** Of an entry of several chunks only the first has the text. */
async function withText(
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
    // Holders may share an id, in the public partition.
    limit: bare.length * 10,
    with_payload: ['querent_id', 'querent_holder', 'document'],
  })
  const texts = new Map(
    points.map(({ payload }) => [
      JSON.stringify([payload?.['querent_holder'], payload?.['querent_id']]),
      payload?.['document'],
    ]),
  )
  return records.map(record => {
    const text = texts.get(JSON.stringify([record.holder, record.id]))
    return record.content === null && typeof text === 'string' ? { ...record, content: text } : record
  })
}

/** The score that the dense vector alone would have had; the server keeps vectors of a cosine collection at length 1. */
function scoreOf({ vector: stored }: Point, space: Measure, asked: Float32Array): number {
  const values = (Array.isArray(stored) ? stored : Object.values((stored ?? {}) as object)[0]) as
    | readonly number[]
    | undefined
  if (!Array.isArray(values)) throw malformed('points', 'one came without its vector')
  if (space.as === 'l2') return Math.hypot(...values.map((value, at) => value - (asked[at] ?? 0)))
  return values.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0)
}

/** The answers of the partitions of one collection, as one. */
function together(answers: readonly CollectionAnswer[], limit: number): CollectionAnswer {
  const [first] = answers as readonly [CollectionAnswer]
  if (answers.length === 1) return first
  const records = nearestFirst(answers.flatMap(answer => answer.records))
  const exhausted = answers.every(answer => answer.exhausted) && records.length <= limit
  return { ...first, records: records.slice(0, limit), exhausted }
}
