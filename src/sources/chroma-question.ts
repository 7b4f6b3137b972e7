/**
 * One query to one collection of a ChromaDB server. Distances are in the collection's own metric; metadata are the records' own or, in a
 * collection that this program mirrored, those of the original entries.
 */
import type { Collection, Where } from 'chromadb'
import type { JsonObject } from '../base/canonical.ts'
import type { Scalar } from '../model/filter.ts'
import type { CollectionAnswer, NumericDate, SourceRecord, Space } from '../pipeline/source.ts'
import { malformed } from './failure.ts'
import { entryOf, foldEntries, MIRRORED_DATE, recordFrom, withTexts } from './mirrored.ts'
import type { VectorRequest } from './partitions.ts'

export interface CollectionOptions {
  /**
   * The metadata key under which collections of other programs keep tags as a list. Absent: each tag is a key of its own, `tag:<name>` with
   * the value true, since many servers do not support lists.
   */
  readonly tagsKey?: string | undefined
  /** The metadata key under which collections of other programs keep every record's date as a number. */
  readonly numericDate?: NumericDate | undefined
}

/** Number of records whose vectors are examined to tell whether a collection's vectors have length 1. */
const SAMPLE = 10

export class CollectionQuestion {
  readonly #collection: Collection
  readonly #name: string
  readonly #request: VectorRequest
  readonly #options: CollectionOptions
  readonly #deviations: Map<string, number>

  /**
   * `name`: name of the collection as the requester gave it. `deviations`: cache of the vectors' largest deviation from length 1, by
   * collection id.
   */
  constructor(
    collection: Collection,
    name: string,
    request: VectorRequest,
    options: CollectionOptions,
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

  /**
   * The nearest records. In a mirrored collection the chunks of an entry are joined to one record, so more chunks are requested until there
   * are enough entries.
   */
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

  /** Adds texts to records of a mirrored collection that lack them: only the record of an entry's first chunk contains the entry's text. */
  async #withText(records: readonly SourceRecord[]): Promise<readonly SourceRecord[]> {
    const bare = this.#isMirrored ? records.filter(record => record.content === null) : []
    if (bare.length === 0) return records
    const heads = await this.#collection.get({
      where: { $and: [{ querent_head: true }, { querent_id: { $in: bare.map(({ id }) => id) } }] },
      include: ['documents', 'metadatas'],
    })
    const texts = heads.ids.map((_, at) => [entryOf(heads.metadatas[at]), heads.documents[at]] as const)
    return withTexts(records, new Map(texts))
  }

  get #isMirrored(): boolean {
    return this.#collection.metadata?.['querent_partition'] !== undefined
  }

  #space(): Space {
    const { configuration, metadata } = this.#collection
    const space = configuration?.hnsw?.space ?? configuration?.spann?.space ?? metadata?.['hnsw:space'] ?? 'l2'
    if (space === 'l2' || space === 'cosine' || space === 'ip') return space
    throw malformed(this.#name, `its distance is not a known one: ${String(space)}`)
  }

  #where(): Where | null {
    const { where, anyTags } = this.#request
    const conditions = where.map(({ key, op, value }) => ({ [key]: { [`$${op}`]: value as Scalar } }))
    const list = this.#isMirrored ? undefined : this.#options.tagsKey
    const tags = anyTags.map(tag => (list === undefined ? { [`tag:${tag}`]: true } : { [list]: { $contains: tag } }))
    const all = [...conditions, ...(tags.length > 1 ? [{ $or: tags }] : tags)]
    return (all.length > 1 ? { $and: all } : (all[0] ?? null)) as Where | null
  }

  /** Largest deviation from length 1 among a sample of the collection's vectors; read once per collection. */
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
