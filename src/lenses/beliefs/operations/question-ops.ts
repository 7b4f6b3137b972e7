/** Questions beside a query: how much there is and of what kind, several queries at once, and what a belief rests on. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, INTEGER, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkQuery } from '../check/query.ts'
import {
  checkBatch,
  checkContradictions,
  checkDerivation,
  checkFacets,
  checkSimilar,
  FACET_FIELDS,
} from '../check/questions.ts'
import { runQuery } from '../paging/page.ts'
import { runBatch } from '../questions/batch.ts'
import { contradictionsOf } from '../questions/contradictions.ts'
import { countMatches } from '../questions/count.ts'
import { derivationOf } from '../questions/derivation.ts'
import { countFacets } from '../questions/facets.ts'
import { similarTo } from '../questions/similar.ts'
import { failureIn, inCall } from './call.ts'
import {
  BODY_LIMIT,
  costOfBatch,
  costOfContradictions,
  costOfDerivation,
  costOfFacets,
  costOfQuery,
  costOfSimilar,
} from './cost.ts'
import { A_QUERY, QUERY } from './query-ops.ts'

const BELIEF_ID = described(TEXT, 'Id of a belief')

const count: Operation<LensHost> = {
  name: 'beliefs.count',
  summary: 'Count the beliefs that a query matches, in all and by where they come from',
  input: anything(QUERY, ['semantic']),
  output: answers({ total: INTEGER, exact: { type: 'boolean' }, by_scope: OBJECT, warnings: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfQuery,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => countMatches(call.state, checkQuery(input, call.asker), call)),
}

const facets: Operation<LensHost> = {
  name: 'beliefs.facets',
  summary: 'Count what a query matches by domain, holder, derivation, visibility or confidence',
  input: anything(
    {
      query: described(A_QUERY, 'What is counted'),
      fields: described({ type: 'array', items: { type: 'string', enum: [...FACET_FIELDS] } }, 'By what to count'),
    },
    ['query', 'fields'],
  ),
  output: answers({ total: INTEGER, facets: OBJECT, warnings: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfFacets,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => countFacets(call.state, checkFacets(input, call.asker), call)),
}

const batch: Operation<LensHost> = {
  name: 'beliefs.batch',
  summary: 'Ask up to 20 queries at once; each is answered, or fails, on its own',
  input: anything({ queries: described(OBJECTS, '1 to 20, each as for beliefs.query') }, ['queries']),
  output: answers({ results: OBJECTS, total_time_ms: { type: 'number' }, succeeded: INTEGER, failed: INTEGER }),
  effect: { kind: 'read', idempotent: false },
  cost: costOfBatch,
  // Each is charged on its own.
  questions: () => [],
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call =>
      runBatch(
        checkBatch(input),
        // Within the promise, so that a fault of one, and want of units for one, is its own.
        async query => {
          context.charge?.(costOfQuery(query), query)
          return runQuery(call.state, checkQuery(query, call.asker), call)
        },
        thrown => failureIn(host, thrown),
        call.signal,
      ),
    ),
}

const derivation: Operation<LensHost> = {
  name: 'beliefs.derivation',
  summary: 'Show what a belief was derived from, step by step',
  input: anything(
    {
      belief_id: BELIEF_ID,
      max_depth: described({ type: 'integer', minimum: 1, maximum: 10, default: 5 }, 'How many steps back'),
    },
    ['belief_id'],
  ),
  output: answers({ belief_id: TEXT, depth: INTEGER, chain: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfDerivation,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) => inCall(host, context, call => derivationOf(call.state, checkDerivation(input), call)),
}

const SCOPED_PAGE: Readonly<Record<string, JsonObject>> = {
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 20 },
  scope: described(OBJECT, '{local, federated, network}; local alone when left out'),
}
const CONTEXT = described(OBJECT, 'As for beliefs.query')

const similar: Operation<LensHost> = {
  name: 'beliefs.similar',
  summary: 'Find beliefs about the same as a belief, ranked as queries rank',
  input: anything(
    {
      belief_id: BELIEF_ID,
      context: CONTEXT,
      options: {
        type: 'object',
        description: 'How many, from where',
        properties: {
          ...SCOPED_PAGE,
          include_same_holder: described(FLAG, 'Beliefs of the same shown holder too; default false'),
          min_similarity: { type: 'number', minimum: -1, maximum: 1, default: 0.7 },
        },
      },
    },
    ['belief_id'],
  ),
  output: answers({ belief_id: TEXT, beliefs: OBJECTS, total_count: INTEGER, warnings: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfSimilar,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => similarTo(call.state, checkSimilar(input, call.asker), call)),
}

const contradictions: Operation<LensHost> = {
  name: 'beliefs.contradictions',
  summary: 'Find beliefs that contradict a belief, by a heuristic on negation, opposites and numbers',
  input: anything(
    {
      belief_id: BELIEF_ID,
      context: CONTEXT,
      options: {
        type: 'object',
        description: 'How many, from where',
        properties: { ...SCOPED_PAGE, min_confidence: described({ type: ['number', 'object'] }, 'As in filters') },
      },
    },
    ['belief_id'],
  ),
  output: answers({
    ...{ belief_id: TEXT, contradictions: OBJECTS, total_count: INTEGER },
    ...{ detector: OBJECT, warnings: OBJECTS },
  }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfContradictions,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => contradictionsOf(call.state, checkContradictions(input, call.asker), call)),
}

export const QUESTION_OPERATIONS: readonly Operation<LensHost>[] = [
  count,
  facets,
  batch,
  derivation,
  similar,
  contradictions,
]
