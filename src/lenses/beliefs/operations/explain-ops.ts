/** Why a belief stands where it does. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkExplain } from '../check/questions.ts'
import { explainPlace } from '../questions/explain-place.ts'
import { inCall } from './call.ts'
import { BODY_LIMIT, costOfExplain } from './cost.ts'
import { A_QUERY } from './query-ops.ts'

const explain: Operation<LensHost> = {
  name: 'beliefs.explain',
  summary: 'Explain the place of a belief for a query, what would lift it, why it is missing, or why it beats another',
  input: anything(
    {
      belief_id: described(TEXT, 'Id of a belief'),
      query: described(A_QUERY, 'What was asked'),
      other_id: described(TEXT, 'A belief to compare it with: why one is before the other'),
    },
    ['belief_id', 'query'],
  ),
  output: answers(
    { belief_id: TEXT, matched: FLAG, summary: TEXT, warnings: OBJECTS },
    { hints: OBJECTS, versus: OBJECT },
  ),
  effect: { kind: 'read', idempotent: true },
  cost: costOfExplain,
  bodyLimit: BODY_LIMIT,
  run: (host, input, context) =>
    inCall(host, context, call => explainPlace(call.state, checkExplain(input, call.asker), call)),
}

export const EXPLAIN_OPERATIONS: readonly Operation<LensHost>[] = [explain]
