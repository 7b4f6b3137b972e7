/** A node becomes a peer: under the key that the owner names, or under the one that it shows at first (BQ-135). */
import type { LensHost } from '../../../lens.ts'
import { faulty } from '../../errors.ts'
import type { Added } from '../../schema/agent-answers.ts'
import type { PeerInput } from '../../schema/agents.ts'
import { PEERS } from '../../tables.ts'
import type { WireAbout } from '../wire/protocol.ts'
import { askAbout, mustBeTimely } from './about.ts'
import { Unreached, unreachedError } from './reach.ts'
import { viewOf } from './view.ts'
import { defaultId, putPeer, wrong } from './write.ts'

/**
 * Without a key the node must answer; with one it need not, but if it does it must have that key. Throws INVALID_QUERY for
 * another one, and for this very node; NODE_UNAVAILABLE where the key is not known and the node does not tell it.
 */
export async function addPeer(host: LensHost, input: PeerInput, signal: AbortSignal): Promise<Added> {
  const id = input.id ?? defaultId(input.address)
  const known = host.store.table(PEERS).get({ id })?.['did'] as string | undefined
  const expected = input.did ?? known
  const about = await aboutFrom(host, input.address, expected, signal)
  const did = expected ?? about?.did
  if (did === undefined) throw new Error('invariant broken: a peer without a key')
  if (about !== null && about.did !== did) throw otherKey(about.did, did)
  if (did === host.node?.keys().did) throw faulty([wrong('address', 'the address of another node', 'self', null)])
  const now = host.clock.now()
  const row = await host.store.writeWhenFree(now, writer =>
    putPeer(writer, input, { id, did, model: about?.model }, now),
  )
  const identity = expected === undefined ? 'first_use' : 'given'
  return { peer: viewOf(host, row), identity, reached: about !== null }
}

/** Null: it does not answer, and need not. */
async function aboutFrom(
  host: LensHost,
  address: string,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<WireAbout | null> {
  try {
    const { about } = await askAbout(host, address, signal)
    mustBeTimely(host, about.timestamp)
    return about
  } catch (thrown) {
    if (!(thrown instanceof Unreached)) throw thrown
    if (expected === undefined) throw unreachedError(thrown, 'address')
    return null
  }
}

function otherKey(shown: string, expected: string): Error {
  return faulty([wrong('did', `the key that the node shows, which is ${shown}`, 'mismatch', JSON.stringify(expected))])
}
