/** Keeps the nodes that this one may ask (BQ-135). The local owner's to say. */
import type { Instant } from '../../../../base/clock.ts'
import type { Row } from '../../../../model/table.ts'
import type { StoreWriter } from '../../../../store/store.ts'
import { faulty } from '../../errors.ts'
import { PEERS } from '../../tables.ts'
import type { Peer } from '../peer.ts'

const MOST_PEERS = 1_000

/** Adds it, or replaces the one of this id. Throws INVALID_QUERY where another has its key. */
export function putPeer(writer: StoreWriter, peer: Peer, now: Instant): void {
  const table = writer.table(PEERS)
  const before = table.get({ id: peer.id })
  const twin = table.scan({ did: peer.did })[0]
  if (twin !== undefined && twin['id'] !== peer.id) {
    throw wrong('did', `a node that is not known as ${String(twin['id'])} already`, 'taken', peer.did)
  }
  if (before === undefined && table.count() >= MOST_PEERS) {
    throw wrong('id', `at most ${MOST_PEERS} nodes`, 'too_many', peer.id)
  }
  table.put(rowOf(peer, (before?.['added_at'] as Instant | undefined) ?? now))
}

/** False: there was none. */
export function removePeer(writer: StoreWriter, id: string): boolean {
  return writer.table(PEERS).delete({ id }) > 0
}

function rowOf({ id, address, did, network, federations, model }: Peer, addedAt: Instant): Row {
  return {
    ...{ id, address, did, model },
    network: network ? 1 : 0,
    federations: JSON.stringify(federations),
    added_at: addedAt,
  }
}

export function wrong(path: string, constraint: string, reason: string, value: string | null): Error {
  return faulty([{ code: 'INVALID_QUERY', path, constraint, reason, value }])
}
