/**
 * Who asks, before anything else of a message from another node is looked at: its envelope is checked, then what it may ask, and
 * how much (`answers_per_minute`). Agents and nodes known here are counted each for themselves; keys that nobody knows, of which
 * anybody makes as many as he likes, by the address they ask from (of IPv6: the network), and all together.
 */
import { type Envelope, envelopeRefusal } from '../../../../identity/envelope.ts'
import { type Limits, RequesterLimits } from '../../../../identity/limits.ts'
import { networkOf } from '../../../../identity/network.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { LensHost } from '../../../lens.ts'
import { answersNobody, faulty, replayed, unauthorized } from '../../errors.ts'
import type { BeliefsState } from '../../state.ts'
import { nameOfDid } from '../asking/keys.ts'
import { knownPeers } from '../peers.ts'
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

/** Of what a known sender may ask, the part that strangers at one address may. */
const STRANGER_SHARE = 5

interface NodeLimits {
  readonly senders: Limits
  readonly addresses: Limits
}

const LIMITS = new WeakMap<BeliefsState, NodeLimits>()

/** `address`: where the question comes from; undefined: from within this process. Throws `rate_limited`. */
export function chargeNode(state: BeliefsState, sender: string, address: string | undefined): void {
  const { senders, addresses } = limitsOf(state)
  const bucket = bucketOf(state, sender)
  if (bucket === sender && address !== undefined) addresses.charge(networkOf(address), 1)
  senders.charge(bucket, 1)
}

function limitsOf(state: BeliefsState): NodeLimits {
  const known = LIMITS.get(state)
  if (known !== undefined) return known
  const { settings, host } = state
  const { answersPerMinute } = settings
  const now = () => host.node?.machineTime() ?? 0
  const limits = (unitsPerMinute: number) => new RequesterLimits({ unitsPerMinute, burst: unitsPerMinute }, now)
  const made = { senders: limits(answersPerMinute), addresses: limits(Math.ceil(answersPerMinute / STRANGER_SHARE)) }
  LIMITS.set(state, made)
  return made
}

/** What a sender counts as. A blank is in no name: nobody else has the bucket of one that is known here. */
export function bucketOf(state: BeliefsState, sender: string): string {
  const { store } = state.host
  const name = nameOfDid(store, sender)
  const isKnown = name !== sender || isMember(state, name) || knownPeers(store).dids.has(sender)
  return isKnown ? `node ${name}` : name
}

function isMember({ host }: BeliefsState, agent: string): boolean {
  return host.store.table(MEMBERSHIPS).scan({ agent, status: 'active' }, { columns: ['agent'], limit: 1 }).length > 0
}
