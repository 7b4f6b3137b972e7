/** The nodes that this one was told of (BQ-135). */
import type { Row } from '../../../../model/table.ts'
import type { Store, StoreReader } from '../../../../store/store.ts'
import { PEERS } from '../../tables.ts'
import type { Peer } from '../peer.ts'

/** By id. */
export function readPeers(reader: StoreReader): readonly Peer[] {
  return reader.table(PEERS).scan().map(peerOf)
}

interface Known {
  readonly version: number
  readonly peers: readonly Peer[]
  readonly dids: ReadonlySet<string>
}

const KNOWN = new WeakMap<Store, Known>()

/** The same, read again only where something of them was written. */
export function knownPeers(store: Store): Omit<Known, 'version'> {
  const version = store.version(PEERS)
  const known = KNOWN.get(store)
  if (known?.version === version) return known
  const peers = readPeers(store)
  const made = { version, peers, dids: new Set(peers.map(({ did }) => did)) }
  KNOWN.set(store, made)
  return made
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
