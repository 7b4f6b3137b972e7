/** All operations of the lens, in the order of listings. */
import { AGENT_OPERATIONS, TRUST_OPERATIONS } from './agent-ops.ts'
import { BELIEF_OPERATIONS } from './belief-ops.ts'
import { FEDERATION_OPERATIONS } from './federation-ops.ts'
import { logged } from './logged.ts'
import { NODE_OPERATIONS, PEER_OPERATIONS } from './node-ops.ts'
import { DIAGNOSTICS_OPERATIONS, QUERY_OPERATIONS, QUESTION_OPERATIONS } from './question-ops.ts'
import { WATCH_OPERATIONS } from './watch-op.ts'

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

// The cast: what is logged keeps its name and its schemas.
export const BELIEFS_OPERATIONS = ALL.map(logged) as unknown as typeof ALL
