/** Operations that read beliefs: queries, explanations, similar and contradicting beliefs, counts, and live queries. */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import { liveStream, type Subscription } from '../../../model/live.ts'
import type { CallContext } from '../../../model/operation.ts'
import { OWNER } from '../../../model/partition.ts'
import { MAX_IDLE_MS, type Pace, paced } from '../../../pipeline/paced.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError, faulty, unauthorized } from '../errors.ts'
import { asBeliefEvent, subscribeTo } from '../live/subscriptions.ts'
import { derivationChain, queryResult } from '../model.ts'
import { runQuery, streamQuery } from '../paging/reading.ts'
import { contradictionsOf, derivationOf, similarTo } from '../questions/about-belief.ts'
import { contextQuery } from '../questions/context-query.ts'
import { explainPlace } from '../questions/explain-place.ts'
import { countFacets, countMatches, diagnose, runBatch } from '../questions/facets.ts'
import { parseRequest } from '../schema/faults.ts'
import { NO_STREAM, type Query, queryInput, query as querySchema, streamedInput, toQuery } from '../schema/query.ts'
import {
  batchAnswer,
  batchInput,
  contextAnswer,
  contextQueryInput,
  contradictionsAnswer,
  contradictionsInput,
  countAnswer,
  derivationInput,
  diagnosticsAnswer,
  diagnosticsInput,
  explainAnswer,
  explainInput,
  facetsAnswer,
  facetsInput,
  similarAnswer,
  similarInput,
  toContextQuery,
  toContradictions,
  toExplain,
  toFacets,
  toSimilar,
  type Watch,
  watchInput,
} from '../schema/questions.ts'
import { BODY_LIMIT, costOf, failureIn, inCall, operation, question } from './belief-operation.ts'

const query = operation({
  name: 'beliefs.query',
  summary: 'Find beliefs by meaning and filters, ranked by meaning, confidence, trust and time',
  input: streamedInput,
  output: queryResult,
  effect: { kind: 'read', idempotent: false },
  cost: input => costOf((input as Query).options),
  bodyLimit: BODY_LIMIT,
  run: (call, given) => {
    // The cast is safe: the input was checked as a query, whose options may ask for a stream.
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
  summary: 'Explain the rank of a belief, what would raise it, why it is missing, or why it ranks above another',
  input: explainInput,
  output: explainAnswer,
  // The cost includes an explanation, because this operation always explains, whatever the option `include_explanation` says.
  cost: ({ query }) => costOf({ ...query.options, include_explanation: true }),
  run: (call, input) => explainPlace(call.state, toExplain(input, call.agent), call),
})

const forContext = question({
  name: 'beliefs.context_query',
  summary: 'Select useful and diverse beliefs for a purpose, within a token budget',
  input: contextQueryInput,
  output: contextAnswer,
  cost: input => costOf((input as Query).options),
  run: (call, input) => contextQuery(call.state, toContextQuery(input, call.agent), call),
})

const diagnostics = operation({
  name: 'beliefs.diagnostics',
  summary:
    'Calibrate the thresholds of the embedding model again and report them, with the counters; for the owner only',
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
  summary: 'Count the beliefs that match a query, in total and by origin',
  input: queryInput,
  output: countAnswer,
  cost: ({ options }) => costOf(options),
  run: (call, input) => countMatches(call.state, toQuery(input, call.agent), call),
})

const facets = question({
  name: 'beliefs.facets',
  summary: 'Count the matches of a query by domain, holder, derivation, visibility or confidence',
  input: facetsInput,
  output: facetsAnswer,
  cost: ({ query: { options } }) => costOf(options),
  run: (call, input) => countFacets(call.state, toFacets(input, call.agent), call),
})

const batch = operation({
  name: 'beliefs.batch',
  summary: 'Run up to 20 queries at once; each one succeeds or fails by itself',
  input: batchInput,
  output: batchAnswer,
  effect: { kind: 'read', idempotent: false },
  // The batch itself costs 0, because each of its queries is charged separately (BQ-175).
  cost: () => 0,
  questions: () => [],
  bodyLimit: BODY_LIMIT,
  run: (call, { queries }) => {
    // The check and the charge are made inside the promise of one query, so that an invalid query, or one for which too few units are left,
    // affects only itself. A rejected query costs one unit (BQ-186).
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
  summary: 'Find beliefs similar to a given one, ranked as in a query',
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
] as const
export const DIAGNOSTICS_OPERATIONS = [diagnostics] as const

/** Starts a timer that ends a stream nobody reads. The timer does not keep the process alive. */
const untilIdle: Pace['after'] = (ms, callback) => {
  const timer = setTimeout(callback, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

export function streamInCall(
  host: LensHost,
  input: Query,
  context: CallContext,
  after: Pace['after'] = untilIdle,
): AsyncIterableIterator<JsonObject> {
  const { signal } = context
  const pace = { signal, idleMs: MAX_IDLE_MS, after }
  const pieces = paced(stop => chunksOf(host, input, { ...context, signal: stop }), pace)
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () =>
      pieces.next().catch((thrown: unknown): IteratorResult<JsonObject> => {
        // After the caller has cancelled, the stream ends without a further piece and without an error.
        if (signal.aborted) return { done: true, value: undefined }
        throw thrown instanceof BeliefsError ? thrown : failureIn(host, idle())
      }),
    return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
  }
}

async function* chunksOf(host: LensHost, input: Query, context: CallContext): AsyncGenerator<JsonObject, void> {
  const chunks = await inCall(host, context, call => streamQuery(call.state, toQuery(input, call.agent), call))
  try {
    // The cast is safe: chunks are plain data, but their interfaces have no index signature.
    for await (const chunk of chunks) yield chunk as unknown as JsonObject
  } catch (thrown) {
    throw failureIn(host, thrown)
  }
}

function idle(): BeliefsError {
  const message = 'the stream was ended: its next piece was not read in time'
  return new BeliefsError('TIMEOUT', message, { elapsed_ms: MAX_IDLE_MS })
}

const watch = operation({
  name: 'beliefs.watch',
  summary: 'Query, then report changes of the answer as they happen',
  input: watchInput,
  output: z.never(),
  effect: { kind: 'read', idempotent: true },
  resumeAt: 'resume_token',
  cost: ({ query }) => costOf(query.options),
  bodyLimit: BODY_LIMIT,
  run: () => {
    const constraint = 'to be answered as a stream'
    throw new BeliefsError('INVALID_QUERY', ONLY_STREAMED, { path: 'input', constraint, reason: 'only_streamed' })
  },
  // The cast is safe: the input was checked by the operation's schema.
  stream: (host, input, context) => ended(host, eventsOf(host, input as Watch, context)),
})

const ONLY_STREAMED =
  'beliefs.watch: its answer is an endless stream of events; use `querent beliefs watch`, or over HTTP ask for a stream (Accept: text/event-stream or application/x-ndjson)'

export const WATCH_OPERATIONS = [watch] as const

function eventsOf(host: LensHost, input: Watch, context: CallContext): AsyncIterable<JsonObject> {
  return liveStream(
    (handlers, signal) =>
      inCall(
        host,
        context,
        ({ state, agent }): Promise<Subscription> => subscribeTo(state, agent, input, handlers, { ...context, signal }),
      ),
    context.signal,
    { asPiece: asBeliefEvent, errorOf: thrown => failureIn(host, thrown) },
  )
}

/** Converts the error with which a stream of events may end to one with a code of the lens. */
function ended(host: LensHost, pieces: AsyncIterable<JsonObject>): AsyncIterable<JsonObject> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        next: () =>
          iterator.next().catch(thrown => {
            throw thrown instanceof BeliefsError && thrown.requestId !== '' ? thrown : failureIn(host, thrown)
          }),
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      }
    },
  }
}
