/** Which other nodes are asked: added, changed and taken off by the local owner (BQ-135). */
import type { Instant } from '../../../../base/clock.ts'
import type { Row } from '../../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../../store/store.ts'
import { faulty } from '../../errors.ts'
import type { PeerInput } from '../../schema/agents.ts'
import { PEERS } from '../../tables.ts'

/** What a peer is called where nobody says: host and port, joined so that it is a name. */
export function defaultId(address: string): string {
  const { hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '').replaceAll(':', '.')
  return port === '' ? host : `${host}-${port}`
}

export interface PeerIdentity {
  readonly id: string
  readonly did: string
  /** Key of its model, where it said so now; undefined: not asked, or not reached. */
  readonly model: string | null | undefined
}

/**
 * A peer that is known keeps what the input does not say. A new one is asked for public beliefs unless federations are
 * named: else it would be asked for nothing. Throws INVALID_QUERY for a key that another peer has.
 */
export function putPeer(writer: StoreWriter, input: PeerInput, { id, did, model }: PeerIdentity, now: Instant): Row {
  const table = writer.table(PEERS)
  const other = table.scan().find(row => row['did'] === did && row['id'] !== id)
  if (other !== undefined) throw taken(did, String(other['id']))
  const before = table.get({ id })
  const kept: Row = before ?? {}
  const { address, federations } = input
  const network = input.network ?? (before === undefined ? (federations ?? []).length === 0 : kept['network'] === 1)
  const row: Row = {
    id,
    address,
    did,
    network: network ? 1 : 0,
    federations: federations === undefined ? (kept['federations'] ?? '[]') : JSON.stringify(federations),
    listed: 0,
    added_at: kept['added_at'] ?? now,
    ...modelIn(kept['did'] === did ? kept : {}, model, now),
  }
  table.put(row)
  return row
}

/** What a node said of itself now. One that was taken off or exchanged meanwhile stays as it is. */
export function keepModel(writer: StoreWriter, said: PeerIdentity, now: Instant): void {
  const row = writer.table(PEERS).get({ id: said.id })
  if (row === undefined || row['did'] !== said.did) return
  writer.table(PEERS).put({ ...row, model: said.model ?? null, answered_at: now })
}

/** False: there is none of this name. */
export function removePeer(writer: StoreWriter, id: string): boolean {
  return writer.table(PEERS).delete({ id }) > 0
}

export function mustBeKnown(reader: StoreReader, id: string): Row {
  const row = reader.table(PEERS).get({ id })
  if (row !== undefined) return row
  throw faulty([wrong('id', 'the id of a peer of this node (peers.list shows them)', 'not_found', JSON.stringify(id))])
}

export function wrong(path: string, constraint: string, reason: string, value: string | null) {
  return { code: 'INVALID_QUERY' as const, path, constraint, reason, value }
}

function taken(did: string, peer: string): Error {
  return faulty([wrong('did', `the key of a node that is no peer yet; ${JSON.stringify(peer)} has it`, 'taken', did)])
}

/** What it said now, else what it said before. */
function modelIn(before: Row, model: string | null | undefined, now: Instant): Row {
  if (model !== undefined) return { model, answered_at: now }
  return { model: before['model'] ?? null, answered_at: before['answered_at'] ?? null }
}
