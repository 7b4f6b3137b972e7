/** Other nodes that this one asks: the local owner's list (BQ-135). */
import { modelOf } from '../embedding.ts'
import { addPeer, ownAbout, probePeer } from '../nodes/meet-peer.ts'
import { forgetHealth, mustBeKnown, peerOf, readPeers, removePeer, viewOf } from '../nodes/peers.ts'
import { wireAbout } from '../nodes/wire/protocol.ts'
import { addedPeer, peersAnswer, probesAnswer, removed } from '../schema/agent-answers.ts'
import { nothing, peerInput, peerOnly, peerOrAll, toPeer } from '../schema/agents.ts'
import { PEERS } from '../tables.ts'
import { operation } from './call.ts'

const add = operation({
  name: 'peers.add',
  summary: 'Add another node to those that are asked, or change what is known of it',
  input: peerInput,
  output: addedPeer,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: ({ host, signal }, input) => addPeer(host, toPeer(input), signal),
})

const list = operation({
  name: 'peers.list',
  summary: 'List the other nodes that are asked, and how they fared',
  input: nothing,
  output: peersAnswer,
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: ({ host }) => {
    const rows = host.store.table(PEERS).scan()
    return { peers: rows.map(row => viewOf(host, row)) }
  },
})

const remove = operation({
  name: 'peers.remove',
  summary: 'Take a node off the list of those that are asked',
  input: peerOnly,
  output: removed,
  effect: { kind: 'destroy', idempotent: true, ownerOnly: true },
  run: async ({ host }, { id }) => {
    const before = host.store.table(PEERS).get({ id })
    if (before !== undefined) forgetHealth(host, before['did'] as string)
    return { removed: await host.store.writeWhenFree(host.clock.now(), writer => removePeer(writer, id)) }
  },
})

const probe = operation({
  name: 'peers.probe',
  summary: 'Ask other nodes who they are: whether they answer, as whom, how fast, and by which clock',
  input: peerOrAll,
  output: probesAnswer,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: async ({ host, signal }, { id }) => {
    const peers = id === undefined ? readPeers(host.store) : [peerOf(mustBeKnown(host.store, id))]
    const model = modelOf(host)
    return { probes: await Promise.all(peers.map(peer => probePeer(host, peer, model, signal))) }
  },
})

const about = operation({
  name: 'peers.about',
  summary: 'Tell who this node is: its key, its model, and the time by its clock; signed, for other nodes',
  input: nothing,
  output: wireAbout,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, host }) => ownAbout(host, modelOf(host), state.settings),
})

export const PEER_OPERATIONS = [add, list, remove, probe, about] as const
