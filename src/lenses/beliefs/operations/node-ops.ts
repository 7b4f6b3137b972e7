/** What other nodes ask of this one. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, OBJECT, TEXT } from '../../wire-schema.ts'
import { answerChanges } from '../nodes/answering/answer-changes.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { chargeNode } from '../nodes/answering/charge-node.ts'
import { inCall } from './call.ts'

/** Bytes of an envelope with a question and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

const ENVELOPE = {
  query: described(OBJECT, 'The question, as docs/guide/nodes.md describes it'),
  sender: described(TEXT, 'did:key of who asks'),
  audience: described(TEXT, 'did:key of this node'),
  timestamp: described(TEXT, 'When it was signed, within 300 s'),
  nonce: described(TEXT, '32 random bytes in base64url, never used before'),
  signature: described(TEXT, 'By the sender, over all the others'),
}

const query: Operation<LensHost> = {
  name: 'nodes.query',
  summary: 'Answer a question that another node has signed',
  input: anything(ENVELOPE, Object.keys(ENVELOPE)),
  output: answers({
    node: TEXT,
    state: described(TEXT, 'Another text after each change of what the sender may see'),
    items: described(TEXT, 'JSON of a list of beliefs'),
    vectors: described({ type: ['object', 'null'] }, 'Of the items that are embedded, in their order'),
    signature: TEXT,
  }),
  effect: { kind: 'read', idempotent: false },
  bodyLimit: ENVELOPE_LIMIT,
  // Who asks is told by the envelope, whoever has brought it: that one is charged.
  cost: () => 0,
  run: (host, input, context) =>
    inCall(host, context, ({ state, signal }) =>
      answerNode(input, { state, signal, charge: sender => chargeNode(state, sender, context.address) }),
    ),
}

const changes: Operation<LensHost> = {
  name: 'nodes.changes',
  summary: 'Tell another node when what it may see here has changed',
  input: anything(ENVELOPE, Object.keys(ENVELOPE)),
  output: answers({
    node: TEXT,
    state: described(TEXT, 'Another text after each change of what the sender may see'),
    signature: TEXT,
  }),
  effect: { kind: 'read', idempotent: false },
  bodyLimit: ENVELOPE_LIMIT,
  cost: () => 0,
  run: (host, input, context) =>
    inCall(host, context, ({ state, signal }) =>
      answerChanges(input, { state, signal, charge: sender => chargeNode(state, sender, context.address) }),
    ),
}

export const NODE_OPERATIONS: readonly Operation<LensHost>[] = [query, changes]
