/** Queries: one, many, and the nearest alone. */
import type { Operation } from '../../../model/operation.ts'
import { costOfAsking } from '../../../model/query-cost.ts'
import type { LensHost } from '../../lens.ts'
import {
  answers,
  described,
  FLAG,
  fields,
  INTEGER,
  NUMBER,
  OBJECT,
  OBJECTS,
  TEXT,
  type WireInput,
} from '../../wire-schema.ts'
import { Chroma } from '../chroma.ts'
import { invalidParameter } from '../errors.ts'
import type { QueryOptions } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { runBatch } from '../query/run-query.ts'
import { stateOf } from '../state.ts'
import { camelCased, only, TAGS } from './wire.ts'

const ANSWER = answers({ results: OBJECTS, query: OBJECT, warnings: OBJECTS })

const OPTIONS = {
  k: described(INTEGER, 'How many results; default 5'),
  max_distance: described({ type: ['number', 'null'] }, 'No farther than this; default that of the settings'),
  temporal_range: {
    type: ['array', 'null'],
    items: { type: 'integer' },
    description: '[start, end], Unix seconds: created or last accessed within',
  },
  metadata_filters: {
    type: ['object', 'null'],
    description: 'By field: a value, a list of values, or operators such as {"$gte": 3, "$contains": "x"}',
  },
  include_rotten: described(FLAG, 'Rotten nodes too; those shown are rescued'),
  score_weights: {
    type: ['object', 'null'],
    properties: {
      relevance: described(NUMBER, 'Of nearness'),
      recency: described(NUMBER, 'Of when it was used last'),
      strength: described(NUMBER, 'Of its memory'),
    },
    description: 'Together 1; default those of each node’s mode',
  },
  profile: described(TEXT, 'Query profile; default that of the settings'),
  update_access: described(FLAG, 'false: a dry run that counts as no use'),
  complete_hashtags: described(FLAG, 'Add tags where a text names too few'),
  fallback_to_default: described(FLAG, 'Use the default profile where the named one fails'),
}

/** Also what the further options of `chroma.map` may be. */
export const OPTION_FIELDS: readonly string[] = Object.keys(OPTIONS)
const QUERY_FIELDS: readonly string[] = ['hashtags', 'input', ...OPTION_FIELDS]
const KNN_FIELDS: readonly string[] = ['hashtags', 'k', 'max_distance', 'include_rotten', 'update_access']

const query: Operation<LensHost> = {
  name: 'chroma.query',
  summary: 'Find nodes near the colour of hashtags (or of a text), ranked by relevance, recency and strength',
  input: fields({ hashtags: TAGS, input: described(TEXT, 'Instead of hashtags: a text for the profile'), ...OPTIONS }),
  output: ANSWER,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  async run(host, given, { viewer }) {
    const { hashtags, input, ...options } = camelCased(given as WireInput, QUERY_FIELDS)
    return new Chroma(host, viewer).queryDetailed(inputOf(hashtags, input), options as QueryOptions)
  },
}

const batch: Operation<LensHost> = {
  name: 'chroma.batch_query',
  summary: 'Ask many queries against one state; all of them or none',
  input: fields({ queries: described(OBJECTS, 'Each as the input of chroma.query') }, ['queries']),
  output: answers({ answers: OBJECTS }),
  effect: { kind: 'read', idempotent: false },
  cost: costOfBatch,
  questions: asked => queriesOf(asked) ?? [],
  async run(host, given, { viewer }) {
    const { queries } = only(given as WireInput, ['queries'])
    const itemOf = (item: unknown) => (isPlainObject(item) ? camelCased(item, QUERY_FIELDS) : item)
    return { answers: await runBatch(stateOf(host), viewer, queries, itemOf) }
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
      include_rotten: OPTIONS.include_rotten,
      update_access: OPTIONS.update_access,
    },
    ['hashtags'],
  ),
  output: ANSWER,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  async run(host, given, { viewer }) {
    const { hashtags, ...options } = camelCased(given as WireInput, KNN_FIELDS)
    return new Chroma(host, viewer).queryKnnDetailed(hashtags as readonly string[], options)
  },
}

export const QUERY_OPERATIONS: readonly Operation<LensHost>[] = [query, batch, knn]

/** By `k`; what stands there instead of a number is refused when it runs. */
function costOfQuery(asked: unknown): number {
  const k = isPlainObject(asked) ? asked['k'] : undefined
  return costOfAsking({ limit: typeof k === 'number' && Number.isSafeInteger(k) ? k : 0 })
}

/** All of it at once: it is answered as a whole, or not at all. */
function costOfBatch(asked: unknown): number {
  const queries = queriesOf(asked)
  if (queries === null) return 1
  return Math.max(
    1,
    queries.reduce<number>((sum, query) => sum + costOfQuery(query), 0),
  )
}

function queriesOf(asked: unknown): readonly unknown[] | null {
  const queries = isPlainObject(asked) ? asked['queries'] : undefined
  return Array.isArray(queries) ? queries : null
}

/** One of the two, and of its type. */
export function inputOf(hashtags: unknown, input: unknown): readonly string[] | string {
  if ((hashtags === undefined) === (input === undefined)) {
    throw invalidParameter('hashtags', hashtags, 'a list of hashtags, or `input` with a text, and not both')
  }
  if (input !== undefined && typeof input !== 'string') throw invalidParameter('input', input, 'a text')
  if (hashtags !== undefined && !Array.isArray(hashtags)) {
    throw invalidParameter('hashtags', hashtags, 'a list of hashtags; a text goes into `input`')
  }
  return (input ?? hashtags) as readonly string[] | string
}
