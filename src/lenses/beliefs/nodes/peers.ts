/** The nodes that this one was told of (BQ-135): read, written by the local owner, and how they fared of late in this process. */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import type { Row } from '../../../model/table.ts'
import { readByVersion } from '../../../pipeline/many-rows.ts'
import type { Store, StoreReader, StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { machineNow } from '../agents/federations.ts'
import { wrong } from '../errors.ts'
import type { PeerView } from '../schema/agent-answers.ts'
import type { PeerInput } from '../schema/agents.ts'
import { PEERS } from '../tables.ts'
import { nodeBookOf } from './asking/node-book.ts'
import type { Peer } from './guest.ts'

/** By id. */
export function readPeers(reader: StoreReader): readonly Peer[] {
  return reader.table(PEERS).scan().map(peerOf)
}

/** The same, read again only where something of them was written. */
export const knownPeers: (store: Store) => { readonly peers: readonly Peer[]; readonly dids: ReadonlySet<string> } =
  readByVersion(PEERS, store => {
    const peers = readPeers(store)
    return { peers, dids: new Set(peers.map(({ did }) => did)) }
  })

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

export function viewOf(host: LensHost, row: Row): PeerView {
  const { id, address, did, network, federations, model } = peerOf(row)
  const { lastSuccess, failures, restingUntil } = healthOf(host, did)
  const answered = Math.max(lastSuccess ?? 0, (row['answered_at'] as number | null) ?? 0)
  return {
    ...{ id, address, did, network, federations },
    model,
    added_at: toIso(row['added_at'] as number),
    last_success: answered === 0 ? null : toIso(answered),
    failures,
    resting_until: restingUntil === null ? null : toIso(restingUntil),
  }
}

/** What a peer is called where nobody says: host and port, joined so that it is a name. */
export function defaultId(address: string): string {
  const { hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '').replaceAll(':', '.')
  return port === '' ? host : `${host}-${port}`
}

interface PeerIdentity {
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
  if (other !== undefined) {
    const constraint = `the key of a node that is no peer yet; ${JSON.stringify(other['id'])} has it`
    throw wrong('did', constraint, 'taken', did)
  }
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

export function assertKnown(reader: StoreReader, id: string): Row {
  const row = reader.table(PEERS).get({ id })
  if (row !== undefined) return row
  throw wrong('id', 'the id of a peer of this node (peers.list shows them)', 'not_found', JSON.stringify(id))
}

/** What it said now, else what it said before. */
function modelIn(before: Row, model: string | null | undefined, now: Instant): Row {
  if (model !== undefined) return { model, answered_at: now }
  return { model: before['model'] ?? null, answered_at: before['answered_at'] ?? null }
}

interface PeerHealth {
  /** Null: not since this process began. */
  readonly lastSuccess: Instant | null
  /** In a row. */
  readonly failures: number
  /** Not asked until then; null: it is asked. */
  readonly restingUntil: Instant | null
}

/** By its did: another key is another node. */
function healthOf(host: LensHost, did: string): PeerHealth {
  const { breaker, lastAnswerAt } = nodeBookOf(host).of(did)
  const restMs = breaker.restMsAt(machineTime(host))
  return {
    lastSuccess: lastAnswerAt,
    failures: breaker.failures,
    restingUntil: restMs > 0 ? Math.ceil(machineNow(host) + restMs) : null,
  }
}

/** It answered: whatever rest it had is over. `model`: that it embeds with. */
export function noteSuccess(host: LensHost, did: string, at: Instant, model: string | null): void {
  const known = nodeBookOf(host).of(did)
  known.breaker.succeeded()
  known.lastAnswerAt = at
  known.model = model
}

export function noteFailure(host: LensHost, did: string): void {
  nodeBookOf(host).of(did).breaker.failed(machineTime(host))
}

/** Of one that was taken off the list. */
export function forgetHealth(host: LensHost, did: string): void {
  nodeBookOf(host).forget(did)
}

function machineTime({ node }: LensHost): number {
  return node?.machineTime() ?? 0
}
