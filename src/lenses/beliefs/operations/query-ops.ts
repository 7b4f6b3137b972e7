/** Asking. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkQuery } from '../check/query.ts'
import { runQuery } from '../paging/page.ts'
import { inCall } from './call.ts'
import { BODY_LIMIT, costOfQuery } from './cost.ts'
import { streamInCall } from './streamed.ts'

export const QUERY: Readonly<Record<string, JsonObject>> = {
  semantic: described(TEXT, 'What to look for; +term, -term, "phrase" and term^2 as the guide says'),
  filters: described(
    { type: ['object', 'string', 'array'] },
    'A filter object, a preset (high_confidence, recent, verified, from_trusted), or a list: all must hold',
  ),
  context: described(OBJECT, 'Who asks and what trust counts: trust_weight, query_domains, confidence_weights, …'),
  options: described(
    OBJECT,
    'scope {local, federated, network, nodes}, limit, offset, cursor, include_explanation, diversity, stream; of other nodes max_results_per_node, timeout_per_node_ms, merge_strategy (rerank, interleave, waterfall), …',
  ),
}

/** A query within an input. */
export const A_QUERY: JsonObject = { type: 'object', properties: { ...QUERY }, required: ['semantic'] }

const query: Operation<LensHost> = {
  name: 'beliefs.query',
  summary: 'Find beliefs by meaning and filters, ranked by meaning, confidence, trust and time',
  input: anything(QUERY, ['semantic']),
  output: answers(
    { beliefs: OBJECTS, total_count: { type: 'integer' }, coverage: OBJECT, warnings: OBJECTS },
    { next_cursor: TEXT },
  ),
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => runQuery(call.state, checkQuery(input, call.asker), call)),
  stream: (host, input, context) => streamInCall(host, input, context),
  streamAt: 'options.stream',
}

export const QUERY_OPERATIONS: readonly Operation<LensHost>[] = [query]
