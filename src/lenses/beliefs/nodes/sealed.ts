/** What nodes say to each other is signed: a question in an envelope, an answer over its other fields (BQ-119, BQ-124). */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { type Envelope, sealEnvelope } from '../../../identity/envelope.ts'
import { isTimely, newNonce } from '../../../identity/freshness.ts'
import type { Keys } from '../../../identity/keys.ts'
import type { NodeIdentity } from '../../../identity/node.ts'
import { isStatementOf, signStatement } from '../../../identity/statement.ts'
import { toIso } from '../../../model/instant.ts'
import type { LensHost } from '../../lens.ts'
import { machineNow } from '../agents/expiry.ts'
import { PROTOCOL, type WireChanges, type WireChangesQuery, type WireQuery } from './wire/protocol.ts'

type Seal = Pick<WireChanges, 'protocol' | 'node' | 'audience' | 'nonce' | 'timestamp' | 'signature'>

export function sealedQuestion(
  host: LensHost,
  keys: Keys,
  audience: string,
  query: WireQuery | WireChangesQuery,
): Envelope {
  const nonce = newNonce(bytes => host.random(bytes))
  // The cast: plain data, but its interface has no index signature.
  return sealEnvelope(keys, query as unknown as Json, { audience, timestamp: machineNow(host), nonce })
}

export function sealedAnswer<T extends object>(
  node: NodeIdentity,
  { sender, nonce }: Envelope,
  said: T,
  statementOf: (answer: T & Seal) => JsonObject,
): T & Seal {
  const keys = node.keys()
  const seal: Seal = {
    ...{ protocol: PROTOCOL, node: keys.did, audience: sender, nonce },
    ...{ timestamp: toIso(node.now()), signature: '' },
  }
  const open = { ...said, ...seal }
  return { ...open, signature: signStatement(keys, statementOf(open)) }
}

/** Whether it is of the node with this key, to this question, and of now. `statement`: what the node should have signed. */
export function isAnswerTo(
  envelope: Envelope,
  did: string,
  answer: Seal,
  statement: JsonObject,
  now: Instant,
): boolean {
  const { node, audience, nonce, timestamp, signature } = answer
  if (node !== did || audience !== envelope.sender || nonce !== envelope.nonce) return false
  return isTimely(Date.parse(timestamp), now) && isStatementOf(did, statement, signature)
}
