/** The nodes that this one was told of (BQ-135). */
import type { Row } from '../../../../model/table.ts'
import type { StoreReader } from '../../../../store/store.ts'
import { PEERS } from '../../tables.ts'
import type { Peer } from '../peer.ts'

/** By id. */
export function readPeers(reader: StoreReader): readonly Peer[] {
  return reader.table(PEERS).scan().map(peerOf)
}

export function peerOf(row: Row): Peer {
  return {
    id: row['id'] as string,
    address: row['address'] as string,
    did: row['did'] as string,
    network: row['network'] === 1,
    federations: JSON.parse(row['federations'] as string) as readonly string[],
    model: row['model'] as string | null,
  }
}
