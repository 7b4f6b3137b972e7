/** Sources made of plain lists, and questions to them: for tests of what the lens makes of answers. */
import type { JsonObject } from '../../../../src/base/canonical.ts'
import { Deadline } from '../../../../src/base/clock.ts'
import { askCollections, type CollectionsAnswer } from '../../../../src/lenses/collections/ask.ts'
import type { CollectionsInput } from '../../../../src/lenses/collections/request.ts'
import type { QueryResult } from '../../../../src/lenses/collections/results.ts'
import { LOCAL_OWNER } from '../../../../src/model/viewer.ts'
import {
  type CollectionAnswer,
  failedCollection,
  type Source,
  type SourceError,
  type SourceRecord,
  type SourceRequest,
} from '../../../../src/pipeline/source.ts'

export const NOW: number = Date.parse('2026-03-01T12:00:00Z')

export interface ListedCollection extends Partial<Omit<CollectionAnswer, 'collection' | 'records' | 'exhausted'>> {
  readonly records: readonly SourceRecord[]
}

export interface ListedSource extends Source {
  readonly asked: SourceRequest[]
}

/** Records stand as they are given: nearest first is the caller's matter. */
export function sourceOf(collections: Readonly<Record<string, ListedCollection>>): ListedSource {
  const asked: SourceRequest[] = []
  const answerOf = (name: string, { limit, where }: SourceRequest): CollectionAnswer => {
    const given = collections[name]
    if (given === undefined) return failedCollection(name, missing(name))
    const { records: all, error = null, ...rest } = given
    if (error !== null) return failedCollection(name, error)
    const records = all.filter(({ metadata }) =>
      where.every(({ key, op, value }) => {
        const found = metadata[key]
        if (op === 'eq') return found === value
        return typeof found === 'number' && (op === 'gte' ? found >= value : found < value)
      }),
    )
    return {
      collection: name,
      space: 'cosine',
      deviation: null,
      numericDate: null,
      error,
      ...rest,
      records: records.slice(0, limit),
      exhausted: records.length <= limit,
    }
  }
  return {
    name: 'listed',
    kind: 'local',
    asked,
    ask: async request => {
      asked.push(request)
      return { source: 'listed', collections: request.collections.map(name => answerOf(name, request)), ms: 0 }
    },
    close: () => Promise.resolve(),
  }
}

export function missing(name: string): SourceError {
  return { code: 'collection_not_found', message: `${name}: there is no such collection` }
}

export function recordOf(id: string, distance: number | null, metadata: JsonObject = {}, content = id): SourceRecord {
  return { id, holder: null, title: null, content, tags: [], metadata, distance }
}

export function ask(source: Source, input: Partial<CollectionsInput> = {}): Promise<CollectionsAnswer> {
  return askCollections(
    { query: 'mcp', ...input },
    {
      source,
      accessScope: { viewer: LOCAL_OWNER, partitions: [] },
      now: NOW,
      deadline: new Deadline(10_000),
      embed: () => Promise.resolve(new Float32Array([1, 0])),
    },
  )
}

export function resultOf(fields: Partial<QueryResult> = {}): QueryResult {
  return {
    title: 'Test Title',
    content: 'Test content here',
    source: 'items',
    score: 0.92,
    metadata: { date: '2026-02-24' },
    ...fields,
  }
}

export function idsOf(answer: CollectionsAnswer): readonly string[] {
  return answer.results.map(({ id }) => id)
}
