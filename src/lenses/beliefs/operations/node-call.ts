/** Operations that other nodes call: in an envelope, which says who asks, whoever has brought it. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { anything, described, OBJECT, TEXT } from '../../wire-schema.ts'
import { chargeNode } from '../nodes/answering/charge-node.ts'
import type { NodeCall } from '../nodes/answering/taken.ts'
import { inCall } from './call.ts'

const ENVELOPE = {
  query: described(OBJECT, 'The question, as docs/guide/nodes.md describes it'),
  sender: described(TEXT, 'did:key of who asks'),
  audience: described(TEXT, 'did:key of this node'),
  timestamp: described(TEXT, 'When it was signed, within 300 s'),
  nonce: described(TEXT, '32 random bytes in base64url, never used before'),
  signature: described(TEXT, 'By the sender, over all the others'),
}

type NodeOperation = Pick<Operation<LensHost>, 'name' | 'summary' | 'output' | 'effect' | 'bodyLimit' | 'waits'>

/** The sender is charged, and not who sends the request. */
export function nodeOperation(
  operation: NodeOperation,
  answer: (input: unknown, call: NodeCall) => Promise<unknown>,
): Operation<LensHost> {
  return {
    ...operation,
    input: anything(ENVELOPE, Object.keys(ENVELOPE)),
    cost: () => 0,
    run: (host, input, context) =>
      inCall(host, context, ({ state, signal }) =>
        answer(input, { state, signal, charge: sender => chargeNode(state, sender, context.address) }),
      ),
  }
}
