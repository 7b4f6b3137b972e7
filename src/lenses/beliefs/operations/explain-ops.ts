/** Why a belief has its rank. */
import { explainPlace } from '../questions/explain-place.ts'
import { explainAnswer } from '../schema/answers.ts'
import { explainInput, toExplain } from '../schema/questions.ts'
import { operation } from './call.ts'
import { BODY_LIMIT, costOf } from './cost.ts'

const explain = operation({
  name: 'beliefs.explain',
  summary: 'Explain the place of a belief for a query, what would lift it, why it is missing, or why it beats another',
  input: explainInput,
  output: explainAnswer,
  effect: { kind: 'read', idempotent: true },
  // An explanation is what is asked for, whatever the query's options say of it.
  cost: ({ query }) => costOf({ ...query.options, include_explanation: true }),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => explainPlace(call.state, toExplain(input, call.agent), call),
})

export const EXPLAIN_OPERATIONS = [explain] as const
