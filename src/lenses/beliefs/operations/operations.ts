/** All operations of the lens, in the order of listings. */
import { AGENT_OPERATIONS } from './agent-ops.ts'
import { AGGREGATE_OPERATIONS } from './aggregate-ops.ts'
import { BELIEF_OPERATIONS } from './belief-ops.ts'
import { CONTEXT_OPERATIONS } from './context-ops.ts'
import { DIAGNOSTICS_OPERATIONS } from './diagnostics-op.ts'
import { EXPLAIN_OPERATIONS } from './explain-ops.ts'
import { FEDERATION_OPERATIONS } from './federation-ops.ts'
import { logged } from './logged.ts'
import { NODE_OPERATIONS } from './node-ops.ts'
import { PEER_OPERATIONS } from './peer-ops.ts'
import { QUERY_OPERATIONS } from './query-ops.ts'
import { QUESTION_OPERATIONS } from './question-ops.ts'
import { TRUST_OPERATIONS } from './trust-ops.ts'
import { WATCH_OPERATIONS } from './watch-op.ts'

const ALL = [
  ...QUERY_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...EXPLAIN_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...CONTEXT_OPERATIONS,
  ...BELIEF_OPERATIONS,
  ...TRUST_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...FEDERATION_OPERATIONS,
  ...AGGREGATE_OPERATIONS,
  ...NODE_OPERATIONS,
  ...PEER_OPERATIONS,
  ...DIAGNOSTICS_OPERATIONS,
] as const

// The cast: what is logged keeps its name and its schemas.
export const BELIEFS_OPERATIONS = ALL.map(logged) as unknown as typeof ALL
