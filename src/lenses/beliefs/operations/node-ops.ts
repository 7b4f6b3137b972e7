/** What other nodes ask of this one. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { chargeNode } from '../nodes/answering/charge-node.ts'
import { inCall } from './call.ts'

/** Bytes of an envelope with a question and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

const query: Operation<LensHost> = {
  name: 'nodes.query',
  summary: 'Answer a question that another node has signed',
  input: anything(
    {
      query: described(OBJECT, 'The question, as docs/guide/nodes.md describes it'),
      sender: described(TEXT, 'did:key of who asks'),
      audience: described(TEXT, 'did:key of this node'),
      timestamp: described(TEXT, 'When it was signed, within 300 s'),
      nonce: described(TEXT, '32 random bytes in base64url, never used before'),
      signature: described(TEXT, 'By the sender, over all the others'),
    },
    ['query', 'sender', 'audience', 'timestamp', 'nonce', 'signature'],
  ),
  output: answers({
    node: TEXT,
    items: OBJECTS,
    digests: described({ type: 'array' }, 'Of the items'),
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

export const NODE_OPERATIONS: readonly Operation<LensHost>[] = [query]
