/**
 * How much other nodes may ask (`answers_per_minute`): agents and nodes known here each for themselves; keys that nobody knows,
 * of which anybody makes as many as he likes, by the address they ask from (of IPv6: the network), and all together.
 */
import { type Limits, RequesterLimits } from '../../../../identity/limits.ts'
import { networkOf } from '../../../../identity/network.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { BeliefsState } from '../../state.ts'
import { nameOfDid } from '../asking/dids.ts'
import { knownPeers } from '../peers/read.ts'

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
