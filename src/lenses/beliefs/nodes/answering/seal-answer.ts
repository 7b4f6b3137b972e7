/** An answer to another node, signed by this one over the hash of each of its items (BQ-124). */
import { canonicalJson, type Json, sha256 } from '../../../../base/canonical.ts'
import type { Envelope } from '../../../../identity/envelope.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import { answerStatement, PROTOCOL, type WireAnswer } from '../wire/protocol.ts'

export type Sealing = Pick<WireAnswer, 'model' | 'needs_text' | 'more' | 'items'>

export function sealAnswer(node: NodeIdentity, { sender, nonce }: Envelope, answer: Sealing): WireAnswer {
  const keys = node.keys()
  const open: WireAnswer = {
    protocol: PROTOCOL,
    node: keys.did,
    audience: sender,
    nonce,
    timestamp: toIso(node.now()),
    ...answer,
    // The cast: items are plain data, but their interface has no index signature.
    digests: answer.items.map(item => sha256(canonicalJson(item as unknown as Json))),
    signature: '',
  }
  return { ...open, signature: signStatement(keys, answerStatement(open)) }
}
