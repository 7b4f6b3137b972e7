/** Operations that other nodes call: in an envelope, which says who asks, whoever has brought it. */
import type { z } from 'zod'
import type { NamedOperation } from '../../lens-operation.ts'
import { moment } from '../model.ts'
import { chargeNode, type NodeCall } from '../nodes/answering/taken.ts'
import { did, object, textUpTo, unchecked, type Value } from '../schema/values.ts'
import { operation } from './call.ts'

type NodeOperation<N extends string, O extends z.ZodType> = Pick<
  NamedOperation<N, z.ZodType, O>,
  'name' | 'summary' | 'output' | 'effect' | 'bodyLimit' | 'waits'
>

/** The sender is charged, and not who sends the request. What is no envelope is refused like one that is not for this node. */
export function nodeOperation<const N extends string, Q extends z.ZodType, O extends z.ZodType>(
  described: NodeOperation<N, O>,
  query: Q,
  answer: (input: unknown, call: NodeCall) => Promise<Value<O>>,
): NamedOperation<N, z.ZodType, O> {
  const envelope = object({
    query: query.describe('What is asked, as docs/guide/nodes.md describes it'),
    sender: did.describe('did:key of the agent that asks'),
    audience: did.describe('did:key of this node'),
    timestamp: moment.describe('When it was signed, at most 300 seconds ago'),
    nonce: textUpTo(43).describe('32 random bytes in base64url, never used before'),
    signature: textUpTo(128).describe('Ed25519 in base64url by the sender, over all other fields'),
  })
  return operation({
    ...described,
    input: unchecked(envelope),
    cost: () => 0,
    run: ({ state, signal, context }, input) =>
      answer(input, { state, signal, charge: sender => chargeNode(state, sender, context.address) }),
  })
}
