/** How much other nodes may ask: agents and nodes known here each for themselves, keys that nobody knows all together. */
import { type Limits, RequesterLimits } from '../../../../identity/limits.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { BeliefsState } from '../../state.ts'
import { nameOfDid } from '../asking/dids.ts'
import { knownPeers } from '../peers/read.ts'

/** Questions a minute, and at once. */
const RATE = { unitsPerMinute: 60_000, burst: 2_000 }

const LIMITS = new WeakMap<BeliefsState, Limits>()

/** Throws `rate_limited`. */
export function chargeNode(state: BeliefsState, sender: string): void {
  const known = LIMITS.get(state)
  const limits = known ?? new RequesterLimits(RATE, () => Math.floor(performance.now()))
  if (known === undefined) LIMITS.set(state, limits)
  limits.charge(bucketOf(state, sender), 1)
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
