/** Other nodes: what they ask of this one, and which of them this one asks. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import { OWNER } from '../../../model/partition.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkNothing, checkOnly } from '../check/agents.ts'
import { checkPeer, checkProbe } from '../check/peers.ts'
import { modelOf } from '../embedding.ts'
import { unauthorized } from '../errors.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { chargeNode } from '../nodes/answering/charge-node.ts'
import { nodeBookOf } from '../nodes/asking/node-book.ts'
import type { Peer } from '../nodes/peer.ts'
import { aboutThis } from '../nodes/peers/about.ts'
import { addPeer, probePeers } from '../nodes/peers/peer-acts.ts'
import { readPeers } from '../nodes/peers/read-peers.ts'
import { removePeer, wrong } from '../nodes/peers/write-peers.ts'
import { type BeliefsCall, inCall } from './call.ts'

/** Bytes of an envelope with a question and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

const ID: JsonObject = described(TEXT, 'What the node is called here')

const query: Operation<LensHost> = {
  name: 'nodes.query',
  summary: 'Answer a question that another node has signed',
  input: anything(
    {
      query: described(OBJECT, 'The question, as docs/guide/nodes.md describes it'),
      sender: described(TEXT, 'did:key of who asks'),
      audience: described(TEXT, 'did:key of this node'),
      timestamp: described(TEXT, 'When it was signed, within 300 s'),
      nonce: described(TEXT, '32 random bytes in base64url, never used before'),
      signature: described(TEXT, 'By the sender, over all the others'),
    },
    ['query', 'sender', 'audience', 'timestamp', 'nonce', 'signature'],
  ),
  output: answers({
    node: TEXT,
    items: OBJECTS,
    digests: described({ type: 'array' }, 'Of the items'),
    signature: TEXT,
  }),
  effect: { kind: 'read', idempotent: false },
  bodyLimit: ENVELOPE_LIMIT,
  // Who asks is told by the envelope, whoever has brought it: that one is charged.
  cost: () => 0,
  run: (host, input, context) =>
    inCall(host, context, ({ state, signal }) =>
      answerNode(input, { state, signal, charge: sender => chargeNode(state, sender) }),
    ),
}

const about: Operation<LensHost> = {
  name: 'nodes.about',
  summary: 'Tell who this node is: its key, its protocol and the model that it embeds with, signed',
  input: anything({}),
  output: answers({ protocol: { type: 'integer' }, did: TEXT, timestamp: TEXT, signature: TEXT }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, () => {
      checkNothing(input)
      const { node } = host
      if (node === undefined) throw new Error('invariant broken: a node without a key')
      return aboutThis(node, modelOf(host))
    }),
}

const add: Operation<LensHost> = {
  name: 'peers.add',
  summary: 'Add another node to those that are asked, or change what it is asked for',
  input: anything(
    {
      id: described(TEXT, 'What to call it; default: its host and port'),
      address: described(TEXT, 'Where it answers, such as https://node.example:8787'),
      did: described(TEXT, 'Its did:key; default: the one it says it has, which is kept from then on'),
      network: described(FLAG, 'Ask it for public beliefs; default true where it serves no federation'),
      federations: described({ type: 'array', items: TEXT }, 'Federations whose beliefs it is asked for'),
    },
    ['address'],
  ),
  output: answers({ peer: OBJECT }),
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      mustOwn(call)
      return { peer: viewOf(host, await addPeer(host, checkPeer(input), context.signal)) }
    }),
}

const list: Operation<LensHost> = {
  name: 'peers.list',
  summary: 'List the other nodes that are asked, and how they are doing',
  input: anything({}),
  output: answers({ peers: OBJECTS }),
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, call => {
      mustOwn(call)
      checkNothing(input)
      return { peers: host.store.read(readPeers).map(peer => viewOf(host, peer)) }
    }),
}

const remove: Operation<LensHost> = {
  name: 'peers.remove',
  summary: 'Ask a node no more',
  input: anything({ id: ID }, ['id']),
  output: answers({ removed: FLAG }),
  effect: { kind: 'destroy', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, call => {
      mustOwn(call)
      const id = checkOnly(input, 'id')
      return { removed: host.store.write(host.clock.now(), writer => removePeer(writer, id)) }
    }),
}

const probe: Operation<LensHost> = {
  name: 'peers.probe',
  summary: 'Ask nodes who they are: whether they answer, with their own key, and how far their clocks are off',
  input: anything({ id: described(TEXT, 'One of them; default all') }),
  output: answers({ probes: OBJECTS }),
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      mustOwn(call)
      const id = checkProbe(input)
      const peers = host.store.read(readPeers).filter(peer => id === null || peer.id === id)
      if (id !== null && peers.length === 0) throw wrong('id', 'the id of a node of peers.list', 'not_found', id)
      return { probes: await probePeers(host, peers, context.signal) }
    }),
}

export const NODE_OPERATIONS: readonly Operation<LensHost>[] = [query, about, add, list, remove, probe]

function mustOwn({ requester }: BeliefsCall): void {
  if (requester !== OWNER) throw unauthorized()
}

function viewOf(host: LensHost, peer: Peer): JsonObject {
  const { breaker, lastAnswerAt, model } = nodeBookOf(host).of(peer.did)
  const now = performance.now()
  return {
    ...{ id: peer.id, address: peer.address, did: peer.did, network: peer.network, federations: peer.federations },
    model: model === undefined ? peer.model : model,
    state: breaker.stateAt(now),
    resting_ms: Math.ceil(breaker.restMsAt(now)),
    last_answer_at: lastAnswerAt === null ? null : new Date(lastAnswerAt).toISOString(),
  }
}
