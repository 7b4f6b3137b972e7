/** Queries: one, many, the nearest alone; and what every lens has of its query. */
import { z } from 'zod'
import { parseWith } from '../../../model/parse-input.ts'
import { costOfAsking } from '../../../model/query-cost.ts'
import { queryOperations } from '../../query-operations.ts'
import { invalidInput } from '../errors.ts'
import { detailedAnswer, hashtagList, queryInput } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { ask, askMany } from '../query/ask.ts'
import { knnOptions, questionInput, questionOf } from '../query/question.ts'
import { stateOf } from '../state.ts'
import { chromaOperation } from './chroma-operation.ts'

const query = chromaOperation({
  name: 'chroma.query',
  summary: 'Find nodes near the colour of hashtags (or of a text), ranked by relevance, recency and strength',
  input: queryInput,
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, item, call) => ask(stateOf(host), call, item),
})

const queries = z.strictObject({
  queries: z.array(queryInput).describe('Each as the input of chroma.query; if one is refused, none is answered'),
})

const batch = chromaOperation({
  name: 'chroma.batch_query',
  summary: 'Ask many queries against one state; all of them or none',
  input: queries,
  output: z.lazy(() => z.strictObject({ answers: z.array(detailedAnswer).describe('In the order of the queries') })),
  effect: { kind: 'read', idempotent: false },
  // The first item that is wrong is reported (CQ-101), also where a later one is wrong in its form.
  checksInput: true,
  // All of it at once: it is answered as a whole, or not at all.
  cost: given =>
    Math.max(
      1,
      itemsOf(given).reduce<number>((sum, each) => sum + costOfQuery(each), 0),
    ),
  questions: itemsOf,
  async run(host, given, call) {
    const items = parseWith(queries.extend({ queries: z.array(z.unknown()) }), given, invalidInput).queries
    return { answers: await askMany(stateOf(host), call, items, item => parseWith(queryInput, item, invalidInput)) }
  },
})

const knn = chromaOperation({
  name: 'chroma.query_knn',
  summary: 'Find the nodes nearest to the colour of hashtags, whatever memory says',
  input: z.strictObject({ hashtags: hashtagList, ...knnOptions.shape }),
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, item, call) => ask(stateOf(host), call, item, 'distance'),
})

const [explain, count, watch] = queryOperations({
  name: 'chroma',
  input: questionInput,
  toQuery: (host, asked) => questionOf(stateOf(host), asked),
})

export const QUERY_OPERATIONS = [
  query,
  batch,
  knn,
  { ...explain, invalid: invalidInput },
  { ...count, invalid: invalidInput },
  { ...watch, invalid: invalidInput },
] as const

/** By `k`; what stands there instead of a number is refused when it runs. */
function costOfQuery(asked: unknown): number {
  const k = isPlainObject(asked) ? asked['k'] : undefined
  return costOfAsking({ limit: Number.isSafeInteger(k) ? (k as number) : 0 })
}

function itemsOf(asked: unknown): readonly unknown[] {
  const items = isPlainObject(asked) ? asked['queries'] : undefined
  return Array.isArray(items) ? items : []
}
