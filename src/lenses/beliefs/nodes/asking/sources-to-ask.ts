/** Which nodes a question goes to (BQ-087, BQ-116, BQ-135). */
import { compareText } from '../../../../base/compare.ts'
import type { Store } from '../../../../store/store.ts'
import type { Requester } from '../../access/requester.ts'
import type { CheckedScope } from '../../schema/query.ts'
import type { AskedSource, Peer } from '../peer.ts'
import { knownPeers } from '../peers/read.ts'

/**
 * Federations of the requester by id, then network nodes by id. Ids of `scope.nodes` that are not asked, whether there is
 * such a node or not, stand at the end as nodes without an address: no answer will come from there.
 */
export function sourcesToAsk(
  store: Store,
  requester: Requester,
  { federated, network, nodes }: CheckedScope,
): readonly AskedSource[] {
  if (!federated && !network) return []
  const peers = knownPeers(store).peers.filter(({ id }) => nodes === null || nodes.includes(id))
  const ofFederations = federated
    ? requester.federations.flatMap(id => peers.filter(serves(id)).map(peer => asked('federated', id, peer)))
    : []
  const ofNetwork = network ? peers.filter(peer => peer.network).map(peer => asked('network', peer.id, peer)) : []
  const found = [...ofFederations, ...ofNetwork]
  const missing = (nodes ?? []).filter(id => !found.some(({ peer }) => peer.id === id)).sort(compareText)
  return [...found, ...missing.map(id => asked(network ? 'network' : 'federated', id, unknownNode(id)))]
}

export function isUnknown({ peer }: AskedSource): boolean {
  return peer.address === ''
}

function serves(federation: string): (peer: Peer) => boolean {
  return ({ federations }) => federations.includes(federation)
}

function asked(kind: AskedSource['kind'], id: string, peer: Peer): AskedSource {
  return { kind, id, peer }
}

function unknownNode(id: string): Peer {
  return { id, address: '', did: '', network: false, federations: [], model: null }
}
