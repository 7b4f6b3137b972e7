/** Asking: queries, explanations, and questions beside a query. */
import { OWNER } from '../../../model/partition.ts'
import { faulty, unauthorized } from '../errors.ts'
import { derivationChain, queryResult } from '../model.ts'
import { runQuery } from '../paging/reading.ts'
import { runBatch } from '../questions/batch.ts'
import { contextQuery } from '../questions/context-query.ts'
import { contradictionsOf } from '../questions/contradictions.ts'
import { countMatches } from '../questions/count.ts'
import { derivationOf } from '../questions/derivation.ts'
import { diagnose } from '../questions/diagnostics.ts'
import { expandBelief } from '../questions/expand.ts'
import { explainPlace } from '../questions/explain-place.ts'
import { countFacets } from '../questions/facets.ts'
import { similarTo } from '../questions/similar.ts'
import {
  batchAnswer,
  contextAnswer,
  contradictionsAnswer,
  countAnswer,
  diagnosticsAnswer,
  expandAnswer,
  explainAnswer,
  facetsAnswer,
  similarAnswer,
} from '../schema/answers.ts'
import { parseRequest } from '../schema/faults.ts'
import { NO_STREAM, type Query, queryInput, query as querySchema, streamedInput, toQuery } from '../schema/query.ts'
import {
  batchInput,
  contextQueryInput,
  contradictionsInput,
  derivationInput,
  diagnosticsInput,
  EXPANSION_DEPTH,
  EXPANSIONS,
  expandInput,
  explainInput,
  facetsInput,
  similarInput,
  toContextQuery,
  toContradictions,
  toExpand,
  toExplain,
  toFacets,
  toSimilar,
} from '../schema/questions.ts'
import { failureIn, operation, question } from './call.ts'
import { BODY_LIMIT, costOf } from './cost.ts'
import { streamInCall } from './streamed.ts'

const query = operation({
  name: 'beliefs.query',
  summary: 'Find beliefs by meaning and filters, ranked by meaning, confidence, trust and time',
  input: streamedInput,
  output: queryResult,
  effect: { kind: 'read', idempotent: false },
  cost: input => costOf((input as Query).options),
  bodyLimit: BODY_LIMIT,
  run: (call, given) => {
    // The cast: a query, whose options may ask for a stream.
    const input = given as Query
    if (input.options?.stream === true)
      throw faulty([{ ...NO_STREAM, code: 'INVALID_QUERY', path: 'options.stream', value: 'true' }])
    return runQuery(call.state, toQuery(input, call.agent), call)
  },
  stream: (host, input, context) => streamInCall(host, input as Query, context),
  streamAt: 'options.stream',
})

const explain = question({
  name: 'beliefs.explain',
  summary: 'Explain the place of a belief for a query, what would lift it, why it is missing, or why it beats another',
  input: explainInput,
  output: explainAnswer,
  // An explanation is what is asked for, whatever the query's options say of it.
  cost: ({ query }) => costOf({ ...query.options, include_explanation: true }),
  run: (call, input) => explainPlace(call.state, toExplain(input, call.agent), call),
})

const forContext = question({
  name: 'beliefs.context_query',
  summary: 'Pick beliefs for a purpose that fit into so many tokens, the most useful and least alike first',
  input: contextQueryInput,
  output: contextAnswer,
  cost: input => costOf((input as Query).options),
  run: (call, input) => contextQuery(call.state, toContextQuery(input, call.agent), call),
})

const expand = question({
  name: 'beliefs.expand',
  summary: 'Show more about a belief within so many tokens: what it rests on, what opposes it, what is like it',
  input: expandInput,
  output: expandAnswer,
  cost: ({ scope, include = EXPANSIONS }) =>
    costOf({ scope, include_derivation: include.includes('derivation'), max_derivation_depth: EXPANSION_DEPTH }),
  run: (call, input) => expandBelief(call.state, toExpand(input, call.agent), call),
})

const diagnostics = operation({
  name: 'beliefs.diagnostics',
  summary: "Report the thresholds of the embedder's model, calibrated anew, and the counters; the owner's alone",
  input: diagnosticsInput,
  output: diagnosticsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, agent, signal }, { calibrate = true }) => {
    if (agent.id !== OWNER) throw unauthorized()
    return diagnose(state, calibrate, signal)
  },
})

const count = question({
  name: 'beliefs.count',
  summary: 'Count the beliefs that a query matches, in all and by where they come from',
  input: queryInput,
  output: countAnswer,
  cost: ({ options }) => costOf(options),
  run: (call, input) => countMatches(call.state, toQuery(input, call.agent), call),
})

const facets = question({
  name: 'beliefs.facets',
  summary: 'Count what a query matches by domain, holder, derivation, visibility or confidence',
  input: facetsInput,
  output: facetsAnswer,
  cost: ({ query: { options } }) => costOf(options),
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
      const parsed = querySchema.safeParse(given)
      call.context.charge?.(parsed.success ? costOf(parsed.data.options) : 1, given)
      return runQuery(call.state, toQuery(parseRequest(querySchema, given), call.agent), call)
    }
    return runBatch(queries, ask, thrown => failureIn(call.host, thrown), call.signal)
  },
})

const derivation = question({
  name: 'beliefs.derivation',
  summary: 'Show what a belief was derived from, step by step',
  input: derivationInput,
  output: derivationChain,
  cost: ({ max_depth: depth = 5 }) => 1 + depth,
  run: (call, { belief_id: beliefId, max_depth: maxDepth = 5 }) =>
    derivationOf(call.state, { beliefId, maxDepth }, call),
})

const similar = question({
  name: 'beliefs.similar',
  summary: 'Find beliefs about the same as a belief, ranked as queries rank',
  input: similarInput,
  output: similarAnswer,
  cost: ({ options: { limit, scope } = {} }) => costOf({ limit, scope }),
  run: (call, input) => similarTo(call.state, toSimilar(input, call.agent), call),
})

const contradictions = question({
  name: 'beliefs.contradictions',
  summary: 'Find beliefs that contradict a belief, by a heuristic on negation, opposites and numbers',
  input: contradictionsInput,
  output: contradictionsAnswer,
  cost: ({ options: { limit, scope } = {} }) => costOf({ limit, scope }),
  run: (call, input) => contradictionsOf(call.state, toContradictions(input, call.agent), call),
})

export const QUERY_OPERATIONS = [query] as const
export const QUESTION_OPERATIONS = [
  explain,
  count,
  facets,
  batch,
  derivation,
  similar,
  contradictions,
  forContext,
  expand,
] as const
export const DIAGNOSTICS_OPERATIONS = [diagnostics] as const
