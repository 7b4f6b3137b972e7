/** Who asks, before anything else of a message from another node is looked at: its envelope is checked, then what it may ask. */
import { type Envelope, envelopeRefusal } from '../../../../identity/envelope.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import type { LensHost } from '../../../lens.ts'
import { answersNobody, faulty, replayed, unauthorized } from '../../errors.ts'
import type { BeliefsState } from '../../state.ts'
import { nameOfDid } from '../asking/dids.ts'
import type { WireScope } from '../wire/protocol.ts'

/**
 * Throws UNAUTHORIZED, always the same, for one that cannot be taken; of one that was taken before it says so: whoever has
 * it knows that it was sent. The number is used up by one that is good in all else and that its sender may ask still.
 */
export async function takenEnvelope(
  input: unknown,
  node: NodeIdentity,
  { state, charge }: NodeCall,
): Promise<Envelope> {
  if (!state.settings.answerNodes) throw answersNobody()
  if (typeof input !== 'object' || input === null) throw unauthorized()
  // The cast: what is no envelope is refused as malformed.
  const envelope = input as Envelope
  const checks = { audience: node.keys().did, now: node.now(), nonces: node.nonces, charge }
  const refusal = await envelopeRefusal(envelope, checks)
  if (refusal === 'replay') throw replayed()
  if (refusal !== null) throw unauthorized()
  return envelope
}

export interface NodeCall {
  readonly state: BeliefsState
  readonly signal: AbortSignal
  /** Counts the question against who asks; throws RATE_LIMITED. */
  charge(sender: string): void
}

/** Public beliefs are told alike, whoever asks. No key is written so. */
const ANYBODY = 'did:key:anybody'

/**
 * Who is not an active member, with leave to query, is told the same of a federation that there is and of one that there is not;
 * of one that gives away no single beliefs (BQ-105), members are too.
 */
export function requesterOf(state: BeliefsState, scope: WireScope, sender: string): string {
  if (scope.kind === 'network') {
    if (!state.settings.answerNetwork) throw unauthorized()
    return ANYBODY
  }
  const requester = nameOfDid(state.host.store, sender)
  const { federation } = scope
  if (!state.requester(requester).federations.includes(federation)) throw unauthorized()
  return requester
}

export function nodeOf({ node }: LensHost): NodeIdentity {
  if (node === undefined) throw new Error('invariant broken: a node without a key')
  return node
}

export function notUnderstood(): Error {
  const constraint = 'a question in the form that docs/guide/nodes.md describes'
  return faulty([{ code: 'INVALID_QUERY', path: 'query', constraint, reason: 'malformed', value: null }])
}
