/**
 * Meets another node at its address: who it says that it is, signed. So it becomes a peer, under the key that the owner names or
 * under the one that it shows at first (BQ-135), and so it is probed. Whatever goes wrong becomes one of few fixed reasons.
 */
import { isStatementOf, isTimely, signStatement } from '../../../identity/messages.ts'
import { QuerentError } from '../../../model/errors.ts'
import { toIso } from '../../../model/instant.ts'
import { type NodeTransport, TransportFailure } from '../../../pipeline/transport.ts'
import type { LensHost } from '../../lens.ts'
import { machineNow } from '../agents/federations.ts'
import type { BeliefsSettings } from '../beliefs-settings.ts'
import { BeliefsError, wrong } from '../errors.ts'
import type { Added, Probe } from '../schema/agent-answers.ts'
import type { PeerInput } from '../schema/agents.ts'
import { PEERS } from '../tables.ts'
import type { Peer } from './guest.ts'
import { defaultId, keepModel, noteFailure, noteSuccess, putPeer, viewOf } from './peers.ts'
import { ABOUT_PATH, aboutStatement, asAbout, isOtherVersion, PROTOCOL, type WireAbout } from './wire/protocol.ts'

type UnreachedReason =
  /** Nobody answers there, or not in time. */
  | 'unreachable'
  | 'refused'
  | 'too_large'
  /** It is no answer of a node, or not signed by it. */
  | 'invalid_data'
  /** Its clock, or ours, is off by more than five minutes. */
  | 'clock'
  /** It speaks another version of the protocol. */
  | 'protocol'

/** Thrown within; what leaves an operation is `unreachedError`. */
class Unreached extends Error {
  override readonly name: string = 'Unreached'
  readonly reason: UnreachedReason
  constructor(reason: UnreachedReason, cause?: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/** Milliseconds that a node has to say who it is. */
const MOST_MS = 5_000
/** A document without beliefs: this is some hundred times what it takes. */
const MOST_BYTES = 64 * 1024

/** Throws `Unreached`; `cancelled` when the caller has gone. */
async function readFrom(host: LensHost, address: string, path: string, signal: AbortSignal): Promise<unknown> {
  const timely = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])
  try {
    return await transportOf(host).send(address, { path, body: null, mostBytes: MOST_BYTES }, timely)
  } catch (thrown) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller has gone', {})
    if (thrown instanceof TransportFailure) throw new Unreached(REASONS[thrown.code], thrown)
    throw thrown
  }
}

const REASONS: Readonly<Record<TransportFailure['code'], UnreachedReason>> = {
  unreachable: 'unreachable',
  aborted: 'unreachable',
  refused: 'refused',
  malformed: 'invalid_data',
  too_large: 'too_large',
}

const TEXTS: Readonly<Record<UnreachedReason, string>> = {
  unreachable: 'no node answers at the address',
  refused: 'what answers at the address does not say who it is',
  too_large: 'what answers at the address says too much to be a node',
  invalid_data: 'what answers at the address is no node, or did not sign what it says',
  clock: 'the clocks of the two nodes are more than five minutes apart',
  protocol: 'the node speaks another version of the protocol',
}

/** What the operation that needed the answer fails with. */
function unreachedError({ reason, cause }: Unreached, path: string): BeliefsError {
  return new BeliefsError('NODE_UNAVAILABLE', `${path}: ${TEXTS[reason]}`, { path, reason }, { cause })
}

function transportOf({ transport }: LensHost): NodeTransport {
  if (transport === undefined) throw new Unreached('unreachable')
  return transport
}

interface Met {
  readonly about: WireAbout
  readonly latencyMs: number
  /** How far its clock is ahead of ours. */
  readonly clockAheadMs: number
}

/** Throws `Unreached`, also for an answer that is not signed by the key that it names. */
async function askAbout(host: LensHost, address: string, signal: AbortSignal): Promise<Met> {
  const started = performance.now()
  const answer = await readFrom(host, address, ABOUT_PATH, signal)
  const latencyMs = Math.round((performance.now() - started) * 1000) / 1000
  const about = aboutIn(answer)
  const said = Date.parse(about.timestamp)
  return { about, latencyMs, clockAheadMs: said - machineNow(host) }
}

/** Throws `Unreached` of the reason `clock`: what was said long ago may be said by another now. */
function assertTimely(host: LensHost, timestamp: string): void {
  if (!isTimely(Date.parse(timestamp), machineNow(host))) throw new Unreached('clock')
}

/** Of this node. `model`: key of the model that it embeds with. Federations are not told of. Not within a read. */
export function ownAbout(
  { node }: LensHost,
  model: string | null,
  { answerNodes: answers, answerNetwork }: Pick<BeliefsSettings, 'answerNodes' | 'answerNetwork'>,
): WireAbout {
  if (node === undefined) throw new BeliefsError('NODE_UNAVAILABLE', 'this store has no node to speak for')
  const keys = node.keys()
  const open: WireAbout = {
    protocol: PROTOCOL,
    ...{ did: keys.did, model, answers, network: answers && answerNetwork, federations: [] },
    ...{ timestamp: toIso(node.now()), signature: '' },
  }
  return { ...open, signature: signStatement(keys, aboutStatement(open)) }
}

function aboutIn(answer: unknown): WireAbout {
  if (isOtherVersion(answer)) throw new Unreached('protocol')
  const about = asAbout(answer)
  if (about === null || !isStatementOf(about.did, aboutStatement(about), about.signature)) {
    throw new Unreached('invalid_data')
  }
  return about
}

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
  if (did === host.node?.keys().did) throw wrong('address', 'the address of another node', 'self')
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
    assertTimely(host, about.timestamp)
    return about
  } catch (thrown) {
    if (!(thrown instanceof Unreached)) throw thrown
    if (expected === undefined) throw unreachedError(thrown, 'address')
    return null
  }
}

function otherKey(shown: string, expected: string): Error {
  return wrong('did', `the key that the node shows, which is ${shown}`, 'mismatch', JSON.stringify(expected))
}

/** Keeps what it says of its model, where it is that node. `ownModel`: key of the model here. */
export async function probePeer(
  host: LensHost,
  peer: Peer,
  ownModel: string | null,
  signal: AbortSignal,
): Promise<Probe> {
  try {
    const met = await askAbout(host, peer.address, signal)
    return told(host, peer, met, ownModel)
  } catch (thrown) {
    if (!(thrown instanceof Unreached)) throw thrown
    noteFailure(host, peer.did)
    return { ...SILENT, id: peer.id, address: peer.address, ...reached(thrown.reason), reason: thrown.reason }
  }
}

const SILENT = {
  ok: false,
  did_matches: null,
  protocol: null,
  model: null,
  same_model: null,
  latency_ms: null,
  clock_difference_ms: null,
}

function reached(reason: UnreachedReason): Pick<Probe, 'reachable'> {
  return { reachable: reason !== 'unreachable' }
}

async function told(
  host: LensHost,
  peer: Peer,
  { about, latencyMs, clockAheadMs }: Met,
  ownModel: string | null,
): Promise<Probe> {
  const { did, model, protocol } = about
  const reason = did === peer.did ? reasonOf(host, about) : 'did_mismatch'
  if (reason === null) {
    const now = host.clock.now()
    noteSuccess(host, did, now, model)
    await host.store.writeWhenFree(now, writer => keepModel(writer, { id: peer.id, did, model }, now))
  } else {
    noteFailure(host, peer.did)
  }
  return {
    id: peer.id,
    address: peer.address,
    ok: reason === null,
    reachable: true,
    did_matches: did === peer.did,
    protocol,
    model,
    same_model: model === null || ownModel === null ? null : model === ownModel,
    latency_ms: latencyMs,
    clock_difference_ms: clockAheadMs,
    reason,
  }
}

function reasonOf(host: LensHost, { timestamp, answers }: WireAbout): 'clock' | 'answers_nobody' | null {
  try {
    assertTimely(host, timestamp)
    return answers ? null : 'answers_nobody'
  } catch (thrown) {
    if (thrown instanceof Unreached) return 'clock'
    throw thrown
  }
}
