/**
 * Nodes tell each other of nodes: only of those that their owner lets them tell, signed, at most 32, and nobody is asked in
 * turn. What is heard is proposed to the owner, who may add it; nothing is asked because another node said so.
 */
import { isStatementOf, signStatement } from '../../../../identity/statement.ts'
import { toIso } from '../../../../model/instant.ts'
import type { LensHost } from '../../../lens.ts'
import { BeliefsError } from '../../errors.ts'
import { PEERS } from '../../tables.ts'
import type { Peer } from '../peer.ts'
import { PEERS_PATH, PROTOCOL, peersStatement, type WirePeer, type WirePeers } from '../wire/protocol.ts'
import { asPeers, MOST_PEERS } from '../wire/shapes.ts'
import { mustBeTimely } from './about.ts'
import { readFrom, Unreached } from './reach.ts'
import { peerOf, readPeers } from './read.ts'

export interface Proposed extends WirePeer {
  /** What it is called here; null: it is no peer of this node. */
  readonly known_as: string | null
}

/** What this node tells anybody who asks. */
export function toldPeers({ store, node }: LensHost): WirePeers {
  if (node === undefined) throw new BeliefsError('NODE_UNAVAILABLE', 'this store has no node to speak for')
  const keys = node.keys()
  const rows = store
    .table(PEERS)
    .scan()
    .filter(row => row['listed'] === 1)
  const peers = rows.slice(0, MOST_PEERS).map(row => {
    const { id, address, did, network } = peerOf(row)
    return { id, address, did, network }
  })
  const open = { protocol: PROTOCOL, node: keys.did, timestamp: toIso(node.now()), peers } as const
  return { ...open, signature: signStatement(keys, peersStatement({ ...open, signature: '' })) }
}

/** Throws `Unreached`. This node itself is passed over. */
export async function askForPeers(host: LensHost, peer: Peer, signal: AbortSignal): Promise<readonly Proposed[]> {
  const answer = asPeers(await readFrom(host, peer.address, PEERS_PATH, signal))
  if (answer?.node !== peer.did || !isStatementOf(peer.did, peersStatement(answer), answer.signature)) {
    throw new Unreached('invalid_data')
  }
  mustBeTimely(host, answer.timestamp)
  const names = new Map(readPeers(host.store).map(({ did, id }) => [did, id]))
  const own = host.node?.keys().did
  return answer.peers.filter(({ did }) => did !== own).map(one => ({ ...one, known_as: names.get(one.did) ?? null }))
}
