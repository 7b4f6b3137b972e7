/** Queries: one, many, and the nearest alone. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { type BatchItem, Chroma } from '../chroma.ts'
import { invalidParameter } from '../errors.ts'
import type { QueryOptions } from '../model.ts'
import type { KnnOptions } from '../query/knn.ts'
import {
  answers,
  camelCased,
  described,
  FLAG,
  fields,
  INTEGER,
  NUMBER,
  OBJECT,
  OBJECTS,
  TAGS,
  TEXT,
  type WireInput,
} from './wire.ts'

const ANSWER = answers({ results: OBJECTS, query: OBJECT, warnings: OBJECTS })

const OPTIONS = {
  k: described(INTEGER, 'How many results; default 5'),
  max_distance: { type: ['number', 'null'] },
  temporal_range: {
    type: ['array', 'null'],
    items: { type: 'integer' },
    description: '[start, end], Unix seconds: created or last accessed within',
  },
  metadata_filters: {
    type: ['object', 'null'],
    description: 'By field: a value, a list of values, or operators such as {"$gte": 3, "$contains": "x"}',
  },
  include_rotten: FLAG,
  score_weights: {
    type: ['object', 'null'],
    properties: { relevance: NUMBER, recency: NUMBER, strength: NUMBER },
    description: 'Together 1; default those of each node’s mode',
  },
  profile: described(TEXT, 'Query profile; default that of the settings'),
  update_access: described(FLAG, 'false: a dry run that counts as no use'),
  complete_hashtags: FLAG,
  fallback_to_default: FLAG,
}

const query: Operation<LensHost> = {
  name: 'chroma.query',
  summary: 'Find nodes near the colour of hashtags (or of a text), ranked by relevance, recency and strength',
  input: fields({ hashtags: TAGS, input: described(TEXT, 'Instead of hashtags: a text for the profile'), ...OPTIONS }),
  output: ANSWER,
  effect: { kind: 'read', idempotent: false },
  async run(host, given, { viewer }) {
    const { hashtags, input, ...options } = given as WireInput
    const asked = inputOf(hashtags, input)
    return new Chroma(host, viewer).queryDetailed(asked, camelCased(options) as QueryOptions)
  },
}

const batch: Operation<LensHost> = {
  name: 'chroma.batch_query',
  summary: 'Ask many queries against one state; all of them or none',
  input: fields({ queries: described(OBJECTS, 'Each as the input of chroma.query') }, ['queries']),
  output: answers({ answers: OBJECTS }),
  effect: { kind: 'read', idempotent: false },
  async run(host, given, { viewer }) {
    const { queries, ...others } = given as WireInput
    for (const [name, value] of Object.entries(others)) throw invalidParameter(name, value, 'only queries')
    if (!Array.isArray(queries)) throw invalidParameter('queries', queries, 'a list of queries')
    const items = queries.map((item: unknown) =>
      item !== null && typeof item === 'object' && !Array.isArray(item) ? camelCased(item as WireInput) : item,
    )
    return { answers: await new Chroma(host, viewer).batchQueryDetailed(items as BatchItem[]) }
  },
}

const knn: Operation<LensHost> = {
  name: 'chroma.query_knn',
  summary: 'Find the nodes nearest to the colour of hashtags, whatever memory says',
  input: fields(
    {
      hashtags: TAGS,
      k: OPTIONS.k,
      max_distance: OPTIONS.max_distance,
      include_rotten: FLAG,
      update_access: OPTIONS.update_access,
    },
    ['hashtags'],
  ),
  output: ANSWER,
  effect: { kind: 'read', idempotent: false },
  async run(host, given, { viewer }) {
    const { hashtags, ...options } = given as WireInput
    return new Chroma(host, viewer).queryKnnDetailed(hashtags as readonly string[], camelCased(options) as KnnOptions)
  },
}

export const QUERY_OPERATIONS: readonly Operation<LensHost>[] = [query, batch, knn]

function inputOf(hashtags: unknown, input: unknown): readonly string[] | string {
  if ((hashtags === undefined) === (input === undefined)) {
    throw invalidParameter('hashtags', hashtags, 'a list of hashtags, or `input` with a text, and not both')
  }
  if (input !== undefined && typeof input !== 'string') throw invalidParameter('input', input, 'a text')
  if (hashtags !== undefined && !Array.isArray(hashtags)) {
    throw invalidParameter('hashtags', hashtags, 'a list of hashtags; a text goes into `input`')
  }
  return (input ?? hashtags) as readonly string[] | string
}
