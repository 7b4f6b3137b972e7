/**
 * The list of other nodes that this node queries (BQ-135), which the local owner edits, and what this process has learned about each. A
 * node is listed under the public key that the owner gives, or else under the key that the node sends in its first answer.
 */
import type { Instant } from '../../../base/clock.ts'
import { onePer, Recent } from '../../../base/recent.ts'
import type { Keys } from '../../../identity/keys.ts'
import { isStatementOf, isTimely, signStatement } from '../../../identity/messages.ts'
import { QuerentError } from '../../../model/errors.ts'
import { toIso } from '../../../model/instant.ts'
import type { Row } from '../../../model/table.ts'
import { readByVersion } from '../../../pipeline/many-rows.ts'
import { TransportFailure } from '../../../pipeline/transport.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { Store, StoreReader, StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import type { BeliefsSettings } from '../beliefs-settings.ts'
import { BeliefsError, wrong } from '../errors.ts'
import type { Added, PeerInput, PeerView } from '../schema/agents.ts'
import { PEERS } from '../tables.ts'
import { ensureKeys, signingKeys } from '../trust/agent-facts.ts'
import type { AskedSource, Peer } from './remote-belief.ts'
import {
  ABOUT_PATH,
  aboutStatement,
  asAbout,
  isOtherVersion,
  machineNow,
  PROTOCOL,
  type WireAbout,
} from './wire/protocol.ts'

/** All listed nodes, ordered by id. */
export function readPeers(reader: StoreReader): readonly Peer[] {
  return reader.table(PEERS).scan().map(peerOf)
}

/** The listed nodes and the set of their keys, cached until the table of peers is written. */
export const knownPeers: (store: Store) => { readonly peers: readonly Peer[]; readonly dids: ReadonlySet<string> } =
  readByVersion(PEERS, store => {
    const peers = readPeers(store)
    return { peers, dids: new Set(peers.map(({ did }) => did)) }
  })

function peerOf(row: Row): Peer {
  return {
    id: row['id'] as string,
    address: row['address'] as string,
    did: row['did'] as string,
    network: row['network'] === 1,
    federations: JSON.parse(row['federations'] as string) as readonly string[],
  }
}

export function viewOf(row: Row): PeerView {
  return { ...peerOf(row), added_at: toIso(row['added_at'] as number) }
}

/** Default id of a listed node, made from the host and port of its address. */
function defaultId(address: string): string {
  const { hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '').replaceAll(':', '.')
  return port === '' ? host : `${host}-${port}`
}

/**
 * Writes a listed node. If it exists, values that the input does not give are kept. A new one is queried for public beliefs unless the
 * input names federations, because otherwise it would be queried for nothing. Throws INVALID_QUERY for a key that another listed node has.
 */
function putPeer(writer: StoreWriter, input: PeerInput, { id, did }: Pick<Peer, 'id' | 'did'>, now: Instant): Row {
  const table = writer.table(PEERS)
  const other = table.scan().find(row => row['did'] === did && row['id'] !== id)
  if (other !== undefined) {
    const constraint = `the key of a node that is not a peer yet; ${JSON.stringify(other['id'])} has this key`
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
  }
  table.put(row)
  return row
}

/** Removes a node from the list. False: no node of this id is listed. */
export function removePeer(writer: StoreWriter, id: string): boolean {
  return writer.table(PEERS).delete({ id }) > 0
}

/** Forgets the recorded failures of a node, because it was removed from the list or has answered again. */
export function forgetHealth(host: LensHost, did: string): void {
  nodeBookOf(host).forget(did)
}

/** Error messages for a node that could not identify itself, by `details.reason` of the error. */
const TEXTS = {
  unreachable: 'no node answers at the address',
  invalid_data: 'what answers at the address is no node, or did not sign its answer',
  clock: 'the clocks of the two nodes are more than five minutes apart',
  protocol: 'the node uses another version of the protocol',
} as const

function unreached(reason: keyof typeof TEXTS, cause?: unknown): BeliefsError {
  const path = 'address'
  return new BeliefsError('NODE_UNAVAILABLE', `${path}: ${TEXTS[reason]}`, { path, reason }, { cause })
}

/** Milliseconds within which a node must answer a request to identify itself. */
const MAX_MS = 5_000
/** Maximum bytes of the answer in which a node identifies itself: some hundred times the usual size. */
const MAX_BYTES = 64 * 1024

/**
 * Requests the identity of a node. Throws NODE_UNAVAILABLE, also if the answer is old or not signed by the key that it names; `cancelled`
 * if the caller has cancelled.
 */
async function askAbout(host: LensHost, address: string, signal: AbortSignal): Promise<WireAbout> {
  const { transport } = host
  if (transport === undefined) throw unreached('unreachable')
  const timely = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)])
  let answer: unknown
  try {
    answer = await transport.send(address, { path: ABOUT_PATH, body: null, maxBytes: MAX_BYTES }, timely)
  } catch (thrown) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller disconnected', {})
    throw thrown instanceof TransportFailure ? unreached('unreachable', thrown) : thrown
  }
  if (isOtherVersion(answer)) throw unreached('protocol')
  const about = asAbout(answer)
  if (about === null || !isStatementOf(about.did, aboutStatement(about), about.signature))
    throw unreached('invalid_data')
  // An old answer is refused, because somebody else could have recorded it and be sending it again.
  if (!isTimely(Date.parse(about.timestamp), machineNow(host))) throw unreached('clock')
  return about
}

/**
 * The answer in which this node identifies itself to other nodes. `model`: identifier of the embedding model that this node uses. This
 * function must not be called within a read of the store.
 */
export function ownAbout(
  { node }: LensHost,
  model: string | null,
  { answerNodes: answers, answerNetwork }: Pick<BeliefsSettings, 'answerNodes' | 'answerNetwork'>,
): WireAbout {
  if (node === undefined) throw new BeliefsError('NODE_UNAVAILABLE', 'this store has no identity of a node')
  const keys = node.keys()
  const open: WireAbout = {
    protocol: PROTOCOL,
    ...{ did: keys.did, model, answers, network: answers && answerNetwork },
    ...{ timestamp: toIso(node.now()), signature: '' },
  }
  return { ...open, signature: signStatement(keys, aboutStatement(open)) }
}

/**
 * Adds a node to the list. If its key is neither given nor known, the node must answer with its key. Throws INVALID_QUERY for the key of
 * this node or of another listed node, and NODE_UNAVAILABLE if the key stays unknown.
 */
export async function addPeer(host: LensHost, input: PeerInput, signal: AbortSignal): Promise<Added> {
  const id = input.id ?? defaultId(input.address)
  const known = input.did ?? (host.store.table(PEERS).get({ id })?.['did'] as string | undefined)
  const did = known ?? (await askAbout(host, input.address, signal)).did
  if (did === host.node?.keys().did) throw wrong('address', 'the address of another node', 'self')
  // The node has been added or changed, so failures recorded until now no longer count.
  forgetHealth(host, did)
  const now = host.clock.now()
  const row = await host.store.writeWhenFree(now, writer => putPeer(writer, input, { id, did }, now))
  return { peer: viewOf(row), identity: known === undefined ? 'first_use' : 'given' }
}

// What an engine has learned about other nodes since it was opened, with a circuit breaker for each: after several consecutive failures a
// node is not queried for a while, then a single query tests whether it answers again. Each pause is twice as long as the one before. Times
// are measured with a monotonic clock.

const FAILURES = 3
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000

class Breaker {
  #failures = 0
  #restMs = FIRST_REST_MS
  #until = Number.NEGATIVE_INFINITY
  #isTrying = false

  /** Whether the node may be queried now. If so, the caller must report the outcome of its query. */
  mayAsk(now: number): boolean {
    if (this.#failures < FAILURES) return true
    if (now < this.#until || this.#isTrying) return false
    this.#isTrying = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#restMs = FIRST_REST_MS
    this.#isTrying = false
  }

  failed(now: number): void {
    const wasTrying = this.#isTrying
    this.#isTrying = false
    this.#failures++
    if (this.#failures < FAILURES) return
    if (wasTrying) this.#restMs = Math.min(LONGEST_REST_MS, 2 * this.#restMs)
    this.#until = now + this.#restMs
  }

  /** Reports that a query ended without showing whether the node works: the requester cancelled, or there was too little time. */
  gaveUp(): void {
    this.#isTrying = false
  }
}

interface KnownNode {
  readonly breaker: Breaker
  /** Identifier of the embedding model that the other node uses; null: that node has no model. Undefined: the node has not answered yet. */
  model: string | null | undefined
}

const MAX_VERIFIED = 50_000
const MAX_EMBEDDED = 10_000

export class NodeBook {
  readonly #nodes = new Map<string, KnownNode>()
  /** Signatures that were already verified, by hash of statement, signer and signature. */
  readonly verified: Recent<string, true> = new Recent(MAX_VERIFIED)
  /** Vectors that this node computed for received texts without a vector, by content and domains. */
  readonly vectors: Recent<string, Float32Array> = new Recent(MAX_EMBEDDED)

  /** The record of a node's health, by its did:key. If the key at an address changes, it counts as another node. */
  of(did: string): KnownNode {
    const known = this.#nodes.get(did)
    if (known !== undefined) return known
    const made: KnownNode = { breaker: new Breaker(), model: undefined }
    this.#nodes.set(did, made)
    return made
  }

  forget(did: string): void {
    this.#nodes.delete(did)
  }
}

export const nodeBookOf: (host: LensHost) => NodeBook = onePer(() => new NodeBook())

/**
 * Keys with which queries to a source of this kind are signed; created by a write if the requester has none. Null: there are none, and none
 * can be created.
 */
export async function askingKeys(host: LensHost, kind: AskedSource['kind'], requester: string): Promise<Keys | null> {
  const { store, random, clock } = host
  try {
    const known = knownKeys(host, kind, requester)
    if (known !== null || kind === 'network') return known
    return await store.writeWhenFree(clock.now(), writer => ensureKeys(writer, requester, bytes => random(bytes)))
  } catch (thrown) {
    if (thrown instanceof QuerentError) return null
    throw thrown
  }
}

/** Existing keys with which queries to a source of this kind are signed; null: none have been created. */
export function knownKeys({ store, node }: LensHost, kind: AskedSource['kind'], requester: string): Keys | null {
  if (kind === 'network') return node?.keys() ?? null
  return store.read(reader => signingKeys(reader, requester))
}

/** Name of the agent on this node that has this did:key; if there is none, the did:key itself. */
export function nameOfDid(store: Store, did: string): string {
  return namesOf(store).get(did) ?? did
}

const namesOf = readByVersion(AGENTS, (store): ReadonlyMap<string, string> => {
  const rows = store.table(AGENTS).scan({}, { columns: ['id', 'did'] })
  return new Map(rows.flatMap(({ id, did }) => (typeof did === 'string' ? [[did, id as string] as const] : [])))
})
