/** Questions beside a query: how much there is and of what kind, several queries at once, and what a belief rests on. */
import { derivationChain } from '../model.ts'
import { runQuery } from '../paging/reading.ts'
import { runBatch } from '../questions/batch.ts'
import { contradictionsOf } from '../questions/contradictions.ts'
import { countMatches } from '../questions/count.ts'
import { derivationOf } from '../questions/derivation.ts'
import { countFacets } from '../questions/facets.ts'
import { similarTo } from '../questions/similar.ts'
import { batchAnswer, contradictionsAnswer, countAnswer, facetsAnswer, similarAnswer } from '../schema/answers.ts'
import { parseRequest } from '../schema/faults.ts'
import { query, queryInput, toQuery } from '../schema/query.ts'
import {
  batchInput,
  contradictionsInput,
  derivationInput,
  facetsInput,
  similarInput,
  toContradictions,
  toFacets,
  toSimilar,
} from '../schema/questions.ts'
import { failureIn, operation } from './call.ts'
import { BODY_LIMIT, costOf } from './cost.ts'

const count = operation({
  name: 'beliefs.count',
  summary: 'Count the beliefs that a query matches, in all and by where they come from',
  input: queryInput,
  output: countAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: ({ options }) => costOf(options),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => countMatches(call.state, toQuery(input, call.agent), call),
})

const facets = operation({
  name: 'beliefs.facets',
  summary: 'Count what a query matches by domain, holder, derivation, visibility or confidence',
  input: facetsInput,
  output: facetsAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: ({ query: { options } }) => costOf(options),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => countFacets(call.state, toFacets(input, call.agent), call),
})

const batch = operation({
  name: 'beliefs.batch',
  summary: 'Ask up to 20 queries at once; each is answered, or fails, on its own',
  input: batchInput,
  output: batchAnswer,
  effect: { kind: 'read', idempotent: false },
  // Each is charged on its own (BQ-175).
  cost: () => 0,
  questions: () => [],
  bodyLimit: BODY_LIMIT,
  run: (call, { queries }) => {
    // Within the promise, so that a fault of one, and want of units for one, is its own. A refused one costs a unit (BQ-186).
    const ask = async (given: unknown) => {
      const parsed = query.safeParse(given)
      call.context.charge?.(parsed.success ? costOf(parsed.data.options) : 1, given)
      return runQuery(call.state, toQuery(parseRequest(query, given), call.agent), call)
    }
    return runBatch(queries, ask, thrown => failureIn(call.host, thrown), call.signal)
  },
})

const derivation = operation({
  name: 'beliefs.derivation',
  summary: 'Show what a belief was derived from, step by step',
  input: derivationInput,
  output: derivationChain,
  effect: { kind: 'read', idempotent: true },
  cost: ({ max_depth: depth = 5 }) => 1 + depth,
  bodyLimit: BODY_LIMIT,
  run: (call, { belief_id: beliefId, max_depth: maxDepth = 5 }) =>
    derivationOf(call.state, { beliefId, maxDepth }, call),
})

const similar = operation({
  name: 'beliefs.similar',
  summary: 'Find beliefs about the same as a belief, ranked as queries rank',
  input: similarInput,
  output: similarAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: ({ options: { limit, scope } = {} }) => costOf({ limit, scope }),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => similarTo(call.state, toSimilar(input, call.agent), call),
})

const contradictions = operation({
  name: 'beliefs.contradictions',
  summary: 'Find beliefs that contradict a belief, by a heuristic on negation, opposites and numbers',
  input: contradictionsInput,
  output: contradictionsAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: ({ options: { limit, scope } = {} }) => costOf({ limit, scope }),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => contradictionsOf(call.state, toContradictions(input, call.agent), call),
})

export const QUESTION_OPERATIONS = [count, facets, batch, derivation, similar, contradictions] as const
