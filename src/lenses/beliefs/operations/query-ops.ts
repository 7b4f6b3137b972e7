/** Asking. */
import { faulty } from '../errors.ts'
import { queryResult } from '../model.ts'
import { runQuery } from '../paging/reading.ts'
import { NO_STREAM, type Query, streamedInput, toQuery } from '../schema/query.ts'
import { operation } from './call.ts'
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

export const QUERY_OPERATIONS = [query] as const
