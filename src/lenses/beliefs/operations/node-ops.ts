/** What other nodes ask of this one. */
import { answerChanges } from '../nodes/answering/answer-changes.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { wireAnswer, wireChanges, wireChangesQuery, wireQuery } from '../nodes/wire/protocol.ts'
import { nodeOperation } from './node-call.ts'

/** Bytes of an envelope with a question and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

export const NODE_OPERATIONS = [
  nodeOperation(
    {
      name: 'nodes.query',
      summary: 'Answer a question that another node has signed',
      output: wireAnswer,
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
    },
    wireQuery,
    answerNode,
  ),
  nodeOperation(
    {
      name: 'nodes.changes',
      summary: 'Tell another node when what it may see here has changed',
      output: wireChanges,
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
      waits: true,
    },
    wireChangesQuery,
    answerChanges,
  ),
] as const
