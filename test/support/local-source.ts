/** The embedded store as a plain source, by distance alone: what other stores with the same records must agree with. */
import type { Bitset } from '../../src/base/bitset.ts'
import type { Hit, VectorIndex } from '../../src/index/contract.ts'
import type { Entry } from '../../src/model/entry.ts'
import type { Filter } from '../../src/model/filter.ts'
import {
  type CollectionAnswer,
  failedCollection,
  type Source,
  type SourceCondition,
  type SourceRecord,
  type SourceRequest,
} from '../../src/pipeline/source.ts'
import { askEach } from '../../src/sources/ask-each.ts'
import { errorOf, notFound, SourceFailure, wrongDimensions } from '../../src/sources/failure.ts'
import type { StoreReader } from '../../src/store/store.ts'

export interface LocalParts {
  readonly reader: StoreReader
  /** Brought up to date with the store; null when there is no embedder. */
  readonly vectors: () => VectorIndex | null
}

export function openLocalSource(parts: LocalParts): Source {
  return {
    name: 'local',
    kind: 'local',
    ask: request => askEach('local', request, async collection => askCollection(collection, request, parts)),
    close: () => Promise.resolve(),
  }
}

function askCollection(collection: string, request: SourceRequest, { reader, vectors }: LocalParts): CollectionAnswer {
  const { accessScope, vector, limit } = request
  const all = reader.matching(accessScope, { op: 'eq', field: 'collection', value: collection })
  if (all.size === 0) return failedCollection(collection, errorOf(notFound(collection), collection))
  const index = vectors()
  if (index === null || vector === null) throw new SourceFailure('no_vector', `${collection}: there is no embedder`)
  if (index.dimensions !== vector.length) throw wrongDimensions(collection, index.dimensions, vector.length)
  const allow = narrowed(all, request, reader)
  const hits = index.search({ vector, k: limit, partitions: accessScope.partitions, allow })
  return {
    collection,
    space: 'cosine',
    records: recordsOf(hits, reader),
    exhausted: hits.length < limit,
    deviation: null,
    numericDate: null,
    error: null,
  }
}

function narrowed(all: Bitset, { accessScope, where, anyTags }: SourceRequest, reader: StoreReader): Bitset {
  const tagged: readonly Filter[] = anyTags.length === 0 ? [] : [{ op: 'in', field: 'tag', values: anyTags }]
  const filters = [...where.map(filterOf), ...tagged]
  return filters.reduce((allow, filter) => allow.and(reader.matching(accessScope, filter)), all)
}

function filterOf({ key, op, value }: SourceCondition): Filter {
  return { op, field: `metadata.${key}`, value }
}

function recordsOf(hits: readonly Hit[], reader: StoreReader): readonly SourceRecord[] {
  const entries = new Map(reader.entries(hits.map(hit => hit.entry)).map(entry => [entry.key, entry]))
  return hits.flatMap(hit => {
    const entry = entries.get(hit.entry)
    return entry === undefined ? [] : [recordOf(entry, 1 - hit.score)]
  })
}

function recordOf({ id, audience, title, content, tags, metadata }: Entry, distance: number): SourceRecord {
  return { id, holder: audience.holder, title, content, tags, metadata, distance }
}
