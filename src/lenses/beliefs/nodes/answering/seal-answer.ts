/** An answer to another node, signed by this one (BQ-124). */
import type { Envelope } from '../../../../identity/envelope.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import { answerStatement, PROTOCOL, type WireAnswer } from '../wire/protocol.ts'

export type Sealing = Pick<WireAnswer, 'model' | 'needs_text' | 'more' | 'items' | 'vectors' | 'state'>

export function sealAnswer(node: NodeIdentity, { sender, nonce }: Envelope, answer: Sealing): WireAnswer {
  const keys = node.keys()
  const open: WireAnswer = {
    protocol: PROTOCOL,
    node: keys.did,
    audience: sender,
    nonce,
    timestamp: toIso(node.now()),
    ...answer,
    signature: '',
  }
  return { ...open, signature: signStatement(keys, answerStatement(open)) }
}
