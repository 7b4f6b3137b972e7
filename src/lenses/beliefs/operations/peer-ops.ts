/** Other nodes that this one asks: the local owner's list (BQ-135). */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkNothing } from '../check/agents.ts'
import { checkPeer, checkPeerId } from '../check/peers.ts'
import { modelOf } from '../embedding.ts'
import { answersNobody } from '../errors.ts'
import { ownAbout } from '../nodes/peers/about.ts'
import { addPeer } from '../nodes/peers/add.ts'
import { askForPeers, toldPeers } from '../nodes/peers/exchange.ts'
import { forgetHealth } from '../nodes/peers/health.ts'
import { probePeer } from '../nodes/peers/probe.ts'
import { Unreached, unreachedError } from '../nodes/peers/reach.ts'
import { peerOf, readPeers } from '../nodes/peers/read.ts'
import { viewOf } from '../nodes/peers/view.ts'
import { mustBeKnown, removePeer } from '../nodes/peers/write.ts'
import { PEERS } from '../tables.ts'
import { inCall } from './call.ts'

const ID = described(TEXT, 'What the peer is called here')

const add: Operation<LensHost> = {
  name: 'peers.add',
  summary: 'Add another node to those that are asked, or change what is known of it',
  input: anything(
    {
      id: described(TEXT, 'What it is to be called here; default: host and port of its address'),
      address: described(TEXT, 'Where it answers, such as https://node.example:7411'),
      did: described(TEXT, 'did:key of the node; without it the node is asked, and believed this once'),
      network: described(FLAG, 'Whether it is asked for public beliefs; default: yes unless federations are named'),
      federations: described(
        { type: 'array', items: { type: 'string' } },
        'Federations that it is asked for; members of them here may ask',
      ),
      listed: described(FLAG, 'Whether other nodes that ask are told of it; default no'),
    },
    ['address'],
  ),
  output: answers({
    peer: OBJECT,
    identity: described(TEXT, 'given, or first_use: whoever answered at the address was taken for the node'),
    reached: described(FLAG, 'Whether it answered, and showed that key'),
  }),
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, context) => inCall(host, context, ({ signal }) => addPeer(host, checkPeer(input), signal)),
}

const list: Operation<LensHost> = {
  name: 'peers.list',
  summary: 'List the other nodes that are asked, and how they fared',
  input: anything({}),
  output: answers({ peers: OBJECTS }),
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, () => {
      checkNothing(input)
      return {
        peers: host.store
          .table(PEERS)
          .scan()
          .map(row => viewOf(host, row)),
      }
    }),
}

const remove: Operation<LensHost> = {
  name: 'peers.remove',
  summary: 'Take a node off the list of those that are asked',
  input: anything({ id: ID }, ['id']),
  output: answers({ removed: described(FLAG, 'Whether it was on the list') }),
  effect: { kind: 'destroy', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, async () => {
      const id = checkPeerId(input)
      const before = host.store.table(PEERS).get({ id })
      if (before !== undefined) forgetHealth(host, before['did'] as string)
      return { removed: await host.store.writeWhenFree(host.clock.now(), writer => removePeer(writer, id)) }
    }),
}

const probe: Operation<LensHost> = {
  name: 'peers.probe',
  summary: 'Ask other nodes who they are: whether they answer, as whom, how fast, and by which clock',
  input: anything({ id: described(TEXT, 'One of them; default: all') }),
  output: answers({ probes: OBJECTS }),
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, async ({ signal }) => {
      const id = checkPeerId(input, 'optional')
      const peers = id === null ? readPeers(host.store) : [peerOf(mustBeKnown(host.store, id))]
      const model = modelOf(host)
      return { probes: await Promise.all(peers.map(peer => probePeer(host, peer, model, signal))) }
    }),
}

const discover: Operation<LensHost> = {
  name: 'peers.discover',
  summary: 'Ask a peer which nodes it knows; they are proposed, not added',
  input: anything({ id: ID }, ['id']),
  output: answers({ proposed: OBJECTS }),
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, async ({ signal }) => {
      const peer = peerOf(mustBeKnown(host.store, checkPeerId(input)))
      try {
        return { proposed: await askForPeers(host, peer, signal) }
      } catch (thrown) {
        throw thrown instanceof Unreached ? unreachedError(thrown, 'id') : thrown
      }
    }),
}

const listed: Operation<LensHost> = {
  name: 'peers.listed',
  summary: 'Tell which nodes this one knows, of those that its owner lists; signed, for other nodes',
  input: anything({}),
  output: answers({
    protocol: { type: 'integer' },
    node: described(TEXT, 'did:key of this node'),
    timestamp: TEXT,
    peers: OBJECTS,
    signature: TEXT,
  }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state }) => {
      checkNothing(input)
      if (!state.settings.answerNodes) throw answersNobody()
      return toldPeers(host)
    }),
}

const about: Operation<LensHost> = {
  name: 'peers.about',
  summary: 'Tell who this node is: its key, its model, and the time by its clock; signed, for other nodes',
  input: anything({}),
  output: answers({
    protocol: { type: 'integer' },
    did: described(TEXT, 'did:key of this node'),
    model: described({ type: ['string', 'null'] }, 'Key of the model that it embeds with'),
    answers: described(FLAG, 'Whether it answers other nodes at all'),
    network: described(FLAG, 'Whether it answers questions for public beliefs'),
    federations: { type: 'array', items: TEXT },
    timestamp: TEXT,
    signature: TEXT,
  }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state }) => {
      checkNothing(input)
      return ownAbout(host, modelOf(host), state.settings)
    }),
}

export const PEER_OPERATIONS: readonly Operation<LensHost>[] = [add, list, remove, probe, discover, listed, about]
