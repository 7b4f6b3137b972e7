/**
 * A ChromaDB server or cluster as a source: collections of others' making asked in place, with their own metadata and
 * their own distance, and collections that `mirror` put there, by partition.
 */
import type { ChromaClient, Collection, Where } from 'chromadb'
import type { JsonObject } from '../base/canonical.ts'
import type { Scalar } from '../model/filter.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import type { CollectionAnswer, NumericDate, Source, SourceRecord, SourceRequest, Space } from '../pipeline/source.ts'
import { serverUrl } from './address.ts'
import { askEach } from './ask-each.ts'
import { type ChromaAddress, chromaFailure, openChromaClient } from './chroma-client.ts'
import { malformed, notFound, SourceFailure } from './failure.ts'
import { foldEntries, MIRRORED_DATE, mirrorName, nearestFirst, recordFrom } from './mirrored.ts'

export interface ChromaSourceOptions extends ChromaAddress {
  readonly name: string
  /** Keys of the partitions in sight, to find what was mirrored; absent: the owner asks, and all that is there is seen. */
  readonly partitionKeys?: ((sight: Sight) => readonly string[]) | undefined
  /** Whether viewers other than the owner may ask collections that were not mirrored (default false). */
  readonly public?: boolean | undefined
  /**
   * The metadata key under which collections of others' making keep tags as a list. Absent: each tag is a key of its
   * own, `tag:<name>` with the value true, since many servers know no lists.
   */
  readonly tagsKey?: string | undefined
  /** Where collections of others' making keep every record's date as a number. */
  readonly numericDate?: NumericDate | undefined
}

/** Rows looked at to tell whether vectors have length 1. */
const SAMPLE = 10
const PAGE = 100

/** Throws `invalid_argument` for an address that is none; reaches for nothing yet. */
export function openChromaSource(options: ChromaSourceOptions): Source {
  serverUrl(options.url)
  const deviations = new Map<string, number>()
  return {
    name: options.name,
    kind: 'chromadb',
    ask: request =>
      askEach(options.name, request, async (collection, signal) => {
        const { vector } = request
        if (vector === null) throw new SourceFailure('no_vector', `${collection}: nothing embedded the question`)
        try {
          const client = await openChromaClient(options, signal)
          const found = await findCollections(client, collection, request.sight, options)
          const answers = await Promise.all(
            found.map(one => new Asking(one, collection, { ...request, vector }, options, deviations).ask()),
          )
          return together(answers, request.limit)
        } catch (thrown) {
          throw chromaFailure(thrown, collection, options.url, vector.length)
        }
      }),
    close: () => Promise.resolve(),
  }
}

/** The mirrored collections of that name in sight; where there are none, the one that has the name. Throws if there is none. */
async function findCollections(
  client: ChromaClient,
  name: string,
  sight: Sight,
  options: ChromaSourceOptions,
): Promise<readonly Collection[]> {
  const keys = options.partitionKeys?.(sight) ?? []
  const mirrored = await Promise.all(keys.map(key => collectionOf(client, mirrorName(name, key))))
  const found = mirrored.filter(collection => collection !== null)
  if (found.length > 0) return found
  if (!isOwner(sight.viewer) && options.public !== true) throw notFound(name)
  const plain = await collectionOf(client, name)
  if (plain !== null) return [plain]
  const labelled = options.partitionKeys === undefined ? await labelledAs(client, name) : []
  if (labelled.length === 0) throw notFound(name)
  return labelled
}

async function collectionOf(client: ChromaClient, name: string): Promise<Collection | null> {
  try {
    // Without `null` the client looks for an embedding function, and complains at length when it finds none.
    return await client.getCollection({ name, embeddingFunction: null as never })
  } catch (error) {
    if (error instanceof Error && error.name === 'ChromaNotFoundError') return null
    // A name that no collection there can have is refused as wrong.
    if (error instanceof Error && error.name === 'ChromaClientError' && /name/i.test(error.message)) return null
    throw error
  }
}

async function labelledAs(client: ChromaClient, name: string): Promise<readonly Collection[]> {
  const found: Collection[] = []
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.listCollections({ limit: PAGE, offset })
    found.push(...page.filter(({ metadata }) => metadata?.['querent_collection'] === name))
    if (page.length < PAGE) return found
  }
}

type AskRequest = Omit<SourceRequest, 'vector'> & { readonly vector: Float32Array }

/** One question to one collection of the server's. */
class Asking {
  readonly #collection: Collection
  readonly #name: string
  readonly #request: AskRequest
  readonly #options: ChromaSourceOptions
  readonly #deviations: Map<string, number>

  constructor(
    collection: Collection,
    name: string,
    request: AskRequest,
    options: ChromaSourceOptions,
    deviations: Map<string, number>,
  ) {
    this.#collection = collection
    this.#name = name
    this.#request = request
    this.#options = options
    this.#deviations = deviations
  }

  async ask(): Promise<CollectionAnswer> {
    const space = this.#space()
    const size = await this.#collection.count()
    if (!Number.isSafeInteger(size) || size < 0) throw malformed(this.#name, 'its size is not a number')
    const { records, exhausted } = size === 0 ? { records: [], exhausted: true } : await this.#nearest(size)
    return {
      collection: this.#name,
      space,
      records,
      exhausted,
      deviation: space === 'cosine' || size === 0 ? null : await this.#deviation(),
      numericDate: this.#isMirrored ? MIRRORED_DATE : (this.#options.numericDate ?? null),
      error: null,
    }
  }

  /** Chunks fold to their entries, so more of them are asked for until there are enough entries. */
  async #nearest(size: number): Promise<{ records: readonly SourceRecord[]; exhausted: boolean }> {
    const { limit } = this.#request
    for (let asked = this.#isMirrored ? limit * 2 : limit; ; asked *= 2) {
      const n = Math.min(asked, size)
      const found = await this.#query(n)
      const records = this.#isMirrored ? foldEntries(found) : found
      const isAll = n >= size || found.length < n
      if (isAll || records.length >= limit) {
        return { records: await this.#withText(records.slice(0, limit)), exhausted: isAll && records.length <= limit }
      }
    }
  }

  async #query(n: number): Promise<readonly SourceRecord[]> {
    const { vector } = this.#request
    const where = this.#where()
    const answer = await this.#collection.query({
      queryEmbeddings: [[...vector]],
      nResults: n,
      include: ['documents', 'metadatas', 'distances'],
      ...(where === null ? {} : { where }),
    })
    const ids: unknown = answer.ids?.[0]
    if (!Array.isArray(ids)) throw malformed(this.#name, 'the answer holds no ids')
    return ids.map((id, at) => {
      if (typeof id !== 'string') throw malformed(this.#name, 'an id is not a text')
      const document: unknown = answer.documents?.[0]?.[at]
      const metadata = (answer.metadatas?.[0]?.[at] ?? {}) as JsonObject
      const distance: unknown = answer.distances?.[0]?.[at]
      return recordFrom(
        id,
        typeof document === 'string' ? document : null,
        metadata,
        typeof distance === 'number' ? distance : null,
      )
    })
  }

  /** Of an entry of several chunks only the first has the text. */
  async #withText(records: readonly SourceRecord[]): Promise<readonly SourceRecord[]> {
    const bare = this.#isMirrored ? records.filter(record => record.content === null) : []
    if (bare.length === 0) return records
    const heads = await this.#collection.get({
      where: { $and: [{ querent_head: true }, { querent_id: { $in: bare.map(({ id }) => id) } }] },
      include: ['documents', 'metadatas'],
    })
    const texts = new Map(
      heads.ids.map((_, at) => {
        const { querent_holder: holder, querent_id: id } = heads.metadatas[at] ?? {}
        return [JSON.stringify([holder, id]), heads.documents[at] ?? null]
      }),
    )
    return records.map(record =>
      record.content === null
        ? { ...record, content: texts.get(JSON.stringify([record.holder, record.id])) ?? null }
        : record,
    )
  }

  get #isMirrored(): boolean {
    return this.#collection.metadata?.['querent_partition'] !== undefined
  }

  #space(): Space {
    const { configuration, metadata } = this.#collection
    const space = configuration?.hnsw?.space ?? configuration?.spann?.space ?? metadata?.['hnsw:space'] ?? 'l2'
    if (space === 'l2' || space === 'cosine' || space === 'ip') return space
    throw malformed(this.#name, `its distance is none that is known: ${String(space)}`)
  }

  #where(): Where | null {
    const { where, anyTags } = this.#request
    const conditions = where.map(({ key, op, value }) => ({ [key]: { [`$${op}`]: value as Scalar } }))
    const list = this.#isMirrored ? undefined : this.#options.tagsKey
    const tags = anyTags.map(tag => (list === undefined ? { [`tag:${tag}`]: true } : { [list]: { $contains: tag } }))
    const all = [...conditions, ...(tags.length > 1 ? [{ $or: tags }] : tags)]
    return (all.length > 1 ? { $and: all } : (all[0] ?? null)) as Where | null
  }

  /** How far from length 1 the vectors are, by a sample looked at once. */
  async #deviation(): Promise<number> {
    const { id } = this.#collection
    const known = this.#deviations.get(id)
    if (known !== undefined) return known
    const { embeddings } = await this.#collection.get({ limit: SAMPLE, include: ['embeddings'] })
    const found = Math.max(0, ...embeddings.map(vector => Math.abs(Math.hypot(...(vector ?? [1])) - 1)))
    this.#deviations.set(id, found)
    return found
  }
}

/** The answers of the partitions of one collection, as one. */
function together(answers: readonly CollectionAnswer[], limit: number): CollectionAnswer {
  const [first] = answers as readonly [CollectionAnswer]
  if (answers.length === 1) return first
  const records = nearestFirst(answers.flatMap(answer => answer.records))
  const deviations = answers.map(answer => answer.deviation).filter(deviation => deviation !== null)
  return {
    ...first,
    records: records.slice(0, limit),
    exhausted: answers.every(answer => answer.exhausted) && records.length <= limit,
    deviation: deviations.length === 0 ? null : Math.max(...deviations),
  }
}
