/** All operations of the beliefs lens, in the order in which they are listed for clients. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { failureIn } from './belief-operation.ts'
import { FEDERATION_OPERATIONS, NODE_OPERATIONS, PEER_OPERATIONS } from './federation-ops.ts'
import { DIAGNOSTICS_OPERATIONS, QUERY_OPERATIONS, QUESTION_OPERATIONS, WATCH_OPERATIONS } from './question-ops.ts'
import { AGENT_OPERATIONS, BELIEF_OPERATIONS, TRUST_OPERATIONS } from './writing-ops.ts'

/**
 * Makes an operation report its errors with the codes of the lens even if an interface or the engine refuses the request before the
 * operation runs (BQ-183).
 */
function withOwnRefusals(operation: Operation<LensHost>): Operation<LensHost> {
  return { ...operation, refusal: failureIn }
}

const ALL = [
  ...QUERY_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...BELIEF_OPERATIONS,
  ...TRUST_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...FEDERATION_OPERATIONS,
  ...NODE_OPERATIONS,
  ...PEER_OPERATIONS,
  ...DIAGNOSTICS_OPERATIONS,
] as const

// The cast is safe: adding a function for refusals changes neither the names nor the schemas of the operations.
export const BELIEFS_OPERATIONS = ALL.map(withOwnRefusals) as unknown as typeof ALL
