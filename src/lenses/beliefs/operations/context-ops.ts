/** Beliefs for the context of a language model, under a limit of tokens. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, INTEGER, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkContextQuery, checkExpand, EXPANSIONS, PURPOSES } from '../check/questions.ts'
import { contextQuery } from '../questions/context-query.ts'
import { expandBelief } from '../questions/expand.ts'
import { inCall } from './call.ts'
import { BODY_LIMIT, costOfContextQuery, costOfExpand } from './cost.ts'
import { QUERY } from './query-ops.ts'

const TOKENS: JsonObject = { type: 'integer', minimum: 1, maximum: 1_000_000 }

const forContext: Operation<LensHost> = {
  name: 'beliefs.context_query',
  summary: 'Pick beliefs for a purpose that fit into so many tokens, the most useful and least alike first',
  input: anything(
    {
      ...QUERY,
      purpose: described({ type: 'string', enum: [...PURPOSES] }, 'What the beliefs are for'),
      max_tokens: described(TOKENS, 'Never exceeded'),
      target_tokens: described(TOKENS, 'Nothing is added once there are so many; max_tokens when left out'),
    },
    ['semantic', 'purpose', 'max_tokens'],
  ),
  output: answers({
    ...{ beliefs: OBJECTS, total_tokens: INTEGER, truncated: FLAG, confidence_floor: { type: ['number', 'null'] } },
    ...{ expandable: { type: 'array', items: { type: 'string' } }, token_counter: OBJECT, warnings: OBJECTS },
  }),
  effect: { kind: 'read', idempotent: true },
  cost: costOfContextQuery,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => contextQuery(call.state, checkContextQuery(input, call.asker), call)),
}

const expand: Operation<LensHost> = {
  name: 'beliefs.expand',
  summary: 'Show more about a belief within so many tokens: what it rests on, what opposes it, what is like it',
  input: anything(
    {
      belief_id: described(TEXT, 'Id of a belief'),
      include: described({ type: 'array', items: { type: 'string', enum: [...EXPANSIONS] } }, 'What of it'),
      max_additional_tokens: described(TOKENS, 'Never exceeded'),
      context: described(OBJECT, 'As for beliefs.query'),
      scope: described(OBJECT, '{local, federated, network}; local alone when left out'),
    },
    ['belief_id', 'max_additional_tokens'],
  ),
  output: answers(
    { belief_id: TEXT, additional_tokens: INTEGER, truncated: FLAG, token_counter: OBJECT, warnings: OBJECTS },
    { derivation: OBJECTS, contradictions: OBJECTS, similar: OBJECTS },
  ),
  effect: { kind: 'read', idempotent: true },
  cost: costOfExpand,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => expandBelief(call.state, checkExpand(input, call.asker), call)),
}

export const CONTEXT_OPERATIONS: readonly Operation<LensHost>[] = [forContext, expand]
