/** What the local owner does with other nodes. */
import type { JsonObject } from '../../../../base/canonical.ts'
import type { NodeIdentity } from '../../../../identity/node.ts'
import { type NodeTransport, TransportFailure } from '../../../../pipeline/transport.ts'
import type { LensHost } from '../../../lens.ts'
import type { PeerInput } from '../../check/peers.ts'
import { BeliefsError } from '../../errors.ts'
import { nodeBookOf } from '../asking/node-book.ts'
import type { Peer } from '../peer.ts'
import { PROTOCOL } from '../wire/protocol.ts'
import { type AboutNode, readAbout } from './about.ts'
import { readPeers } from './read-peers.ts'
import { putPeer, wrong } from './write-peers.ts'

/** What a node is asked for itself may take so long. */
const PROBE_MS = 5_000

/** Asks the node who it is: a key that was told must be its own; without one, the first it gives is taken. */
export async function addPeer(host: LensHost, input: PeerInput, signal: AbortSignal): Promise<Peer> {
  const about = await asked(host, input.address, signal)
  if (about === null) {
    // Told its key, it can be added before it is there.
    if (input.did === undefined) throw unreachable(input.address)
  } else if (input.did !== undefined && input.did !== about.did) {
    throw wrong('did', `the key of the node at this address, which says that it is ${about.did}`, 'mismatch', input.did)
  } else if (about.protocol !== PROTOCOL) {
    throw wrong(
      'address',
      `a node that speaks protocol ${PROTOCOL}; this one speaks ${about.protocol}`,
      'protocol',
      input.address,
    )
  }
  const peer: Peer = {
    id: input.id ?? nameOf(input.address),
    address: input.address,
    did: input.did ?? (about as AboutNode).did,
    network: input.network,
    federations: input.federations,
    model: about?.model ?? null,
  }
  host.store.write(host.clock.now(), writer => putPeer(writer, peer, host.clock.now()))
  return peer
}

export interface Probe extends JsonObject {
  readonly node: string
  readonly reachable: boolean
  /** Null: it did not answer. */
  readonly is_itself: boolean | null
  readonly protocol: number | null
  readonly model: string | null
  readonly clock_difference_ms: number | null
  readonly elapsed_ms: number
}

/** Asks these nodes who they are, all at once, and notes the models that they embed with. */
export async function probePeers(
  host: LensHost,
  peers: readonly Peer[],
  signal: AbortSignal,
): Promise<readonly Probe[]> {
  return Promise.all(
    peers.map(async peer => {
      const began = performance.now()
      const about = await asked(host, peer.address, signal)
      const elapsed_ms = Math.round(performance.now() - began)
      const isItself = about === null ? null : about.did === peer.did
      if (about !== null && isItself === true) {
        nodeBookOf(host).of(peer.did).model = about.model
        nodeBookOf(host).of(peer.did).breaker.succeeded()
        if (about.model !== peer.model) noteModel(host, peer.id, about.model)
      }
      return {
        node: peer.id,
        reachable: about !== null,
        is_itself: isItself,
        protocol: about?.protocol ?? null,
        model: about?.model ?? null,
        clock_difference_ms: about === null ? null : Date.parse(about.timestamp) - nodeOf(host).now(),
        elapsed_ms,
      }
    }),
  )
}

function noteModel({ store, clock }: LensHost, id: string, model: string | null): void {
  store.write(clock.now(), writer => {
    const peer = readPeers(writer).find(each => each.id === id)
    if (peer !== undefined) putPeer(writer, { ...peer, model }, clock.now())
  })
}

/** Null: there is no answer that can be believed. */
async function asked(host: LensHost, address: string, signal: AbortSignal): Promise<AboutNode | null> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)])
  try {
    return await readAbout(transportOf(host), address, nodeOf(host), stop)
  } catch (thrown) {
    if (thrown instanceof TransportFailure && !signal.aborted) return null
    throw thrown
  }
}

/** `https://node.example:8787` is `node.example-8787`. */
function nameOf(address: string): string {
  return new URL(address).host.replaceAll(/[[\]]/g, '').replaceAll(/[:,]/g, '-')
}

function unreachable(address: string): BeliefsError {
  return new BeliefsError('NODE_UNAVAILABLE', 'no node answers at this address; give its did to add it all the same', {
    address,
  })
}

function transportOf({ transport }: LensHost): NodeTransport {
  if (transport === undefined) throw new Error('invariant broken: nothing to ask other nodes with')
  return transport
}

function nodeOf({ node }: LensHost): NodeIdentity {
  if (node === undefined) throw new Error('invariant broken: a node without a key')
  return node
}
