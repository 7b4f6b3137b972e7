/** Queries: one, many, and the nearest alone. */
import { z } from 'zod'
import { parseWith } from '../../../model/parse-input.ts'
import { costOfAsking } from '../../../model/query-cost.ts'
import { camelKeys } from '../camel.ts'
import { invalidInput } from '../errors.ts'
import { detailedAnswer, hashtagList, queryInput } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { knnOptions, runKnn } from '../query/knn.ts'
import { runBatch, runQuery } from '../query/run-query.ts'
import { stateOf } from '../state.ts'
import { chromaOperation } from './chroma-operation.ts'

const query = chromaOperation({
  name: 'chroma.query',
  summary: 'Find nodes near the colour of hashtags (or of a text), ranked by relevance, recency and strength',
  input: queryInput,
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, { hashtags, input, ...options }, { viewer }) =>
    runQuery(stateOf(host), viewer, hashtags ?? input, camelKeys(options)),
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
  async run(host, given, { viewer }) {
    const items = parseWith(queries.extend({ queries: z.array(z.unknown()) }), given, invalidInput).queries
    const check = (item: unknown) => camelKeys(parseWith(queryInput, item, invalidInput))
    return { answers: await runBatch(stateOf(host), viewer, items, check) }
  },
})

const knn = chromaOperation({
  name: 'chroma.query_knn',
  summary: 'Find the nodes nearest to the colour of hashtags, whatever memory says',
  input: z.strictObject({ hashtags: hashtagList, ...knnOptions.shape }),
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, { hashtags, ...options }, { viewer }) => runKnn(stateOf(host), viewer, hashtags, camelKeys(options)),
})

export const QUERY_OPERATIONS = [query, batch, knn] as const

/** By `k`; what stands there instead of a number is refused when it runs. */
function costOfQuery(asked: unknown): number {
  const k = isPlainObject(asked) ? asked['k'] : undefined
  return costOfAsking({ limit: Number.isSafeInteger(k) ? (k as number) : 0 })
}

function itemsOf(asked: unknown): readonly unknown[] {
  const items = isPlainObject(asked) ? asked['queries'] : undefined
  return Array.isArray(items) ? items : []
}
