/** What other nodes ask of this one. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, described, TEXT } from '../../wire-schema.ts'
import { answerChanges } from '../nodes/answering/answer-changes.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { nodeOperation } from './node-call.ts'

/** Bytes of an envelope with a question and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

const STATE = described(TEXT, 'Another text after each change of what the sender may see')

export const NODE_OPERATIONS: readonly Operation<LensHost>[] = [
  nodeOperation(
    {
      name: 'nodes.query',
      summary: 'Answer a question that another node has signed',
      output: answers({
        node: TEXT,
        state: STATE,
        items: described(TEXT, 'JSON of a list of beliefs'),
        vectors: described({ type: ['object', 'null'] }, 'Of the items that are embedded, in their order'),
        signature: TEXT,
      }),
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
    },
    answerNode,
  ),
  nodeOperation(
    {
      name: 'nodes.changes',
      summary: 'Tell another node when what it may see here has changed',
      output: answers({ node: TEXT, state: STATE, signature: TEXT }),
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
      waits: true,
    },
    answerChanges,
  ),
]
