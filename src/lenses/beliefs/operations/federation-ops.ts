/**
 * Operations on federations, on other nodes, and on aggregates (figures about the beliefs of a federation that does not show the beliefs
 * themselves, BQ-105).
 */
import type { z } from 'zod'
import type { NamedOperation } from '../../lens-operation.ts'
import { createFederation, leaveFederation, listFederations, setMember } from '../agents/federations.ts'
import { aggregateAnswer, aggregateInput, askAggregate, toAggregateQuestion } from '../aggregates/tally.ts'
import { moment } from '../model.ts'
import { answerNode } from '../nodes/answering/answer-node.ts'
import { answerChanges, chargeNode, type NodeCall } from '../nodes/answering/node-call.ts'
import { addPeer, forgetHealth, ownAbout, removePeer, viewOf } from '../nodes/peers.ts'
import { wireAbout, wireAnswer, wireChanges, wireChangesQuery, wireQuery } from '../nodes/wire/protocol.ts'
import {
  addedPeer,
  federationInput,
  federationOnly,
  federationsAnswer,
  memberInput,
  nothing,
  oneFederation,
  oneMembership,
  peerInput,
  peerOnly,
  peersAnswer,
  removed,
  toPeer,
} from '../schema/agents.ts'
import { did, object, textUpTo, unchecked, type Value } from '../schema/values.ts'
import { modelOf } from '../state.ts'
import { PEERS } from '../tables.ts'
import { operation, writing } from './belief-operation.ts'

const aggregate = operation({
  name: 'federations.aggregate',
  summary: 'Count the members of a federation and their beliefs on a topic, without revealing any member',
  input: aggregateInput,
  output: aggregateAnswer,
  effect: { kind: 'write', idempotent: true },
  run: ({ state, agent, signal }, input) => askAggregate(state, agent.id, toAggregateQuestion(input), signal),
})

const create = operation({
  name: 'federations.create',
  summary: 'Create a federation; the requester is its first member',
  input: federationInput,
  output: oneFederation,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => {
    const newId = () => Buffer.from(call.host.random(8)).toString('hex')
    return { federation: await writing(call, write => createFederation(write, input, newId)) }
  },
})

const leave = operation({
  name: 'federations.leave',
  summary: 'Leave a federation; shared beliefs are no longer visible on either side',
  input: federationOnly,
  output: oneMembership,
  effect: { kind: 'write', idempotent: false },
  run: async (call, { federation }) => ({
    membership: await writing(call, write => leaveFederation(write, federation)),
  }),
})

const member = operation({
  name: 'federations.set_member',
  summary: 'Add a member to a federation, or change its status, role and permissions',
  input: memberInput,
  output: oneMembership,
  effect: { kind: 'write', idempotent: true },
  run: async (call, input) => ({ membership: await writing(call, write => setMember(write, input)) }),
})

const list = operation({
  name: 'federations.list',
  summary: 'List the present and former federations of the requester; all of them for the local owner',
  input: nothing,
  output: federationsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }) => ({ federations: host.store.read(reader => listFederations(reader, agent.id)) }),
})

export const FEDERATION_OPERATIONS = [create, leave, member, list, aggregate] as const

// Operations on other nodes: editing the list of nodes that this node queries (BQ-135), and answering queries of other nodes. The sender of
// a query from another node is the one named in its signed envelope, whoever transmitted it.

type NodeOperation<N extends string, O extends z.ZodType> = Pick<
  NamedOperation<N, z.ZodType, O>,
  'name' | 'summary' | 'output' | 'effect' | 'bodyLimit' | 'waits'
>

/**
 * Defines an operation that other nodes call. The sender named in the envelope is charged, not the transmitter of the request. Input that
 * is not an envelope gives the same error as an envelope addressed to another node.
 */
function nodeOperation<const N extends string, Q extends z.ZodType, O extends z.ZodType>(
  described: NodeOperation<N, O>,
  query: Q,
  answer: (input: unknown, call: NodeCall) => Promise<Value<O>>,
): NamedOperation<N, z.ZodType, O> {
  const envelope = object({
    query: query.describe('The query, as docs/guide/nodes.md describes it'),
    sender: did.describe('did:key of the requesting agent'),
    audience: did.describe('did:key of this node'),
    timestamp: moment.describe('When it was signed, at most 300 seconds ago'),
    nonce: textUpTo(43).describe('32 random bytes in base64url, never used before'),
    signature: textUpTo(128).describe('Ed25519 in base64url by the sender, over all other fields'),
  })
  return operation({
    ...described,
    input: unchecked(envelope),
    cost: () => 0,
    run: ({ state, signal, context }, input) =>
      answer(input, { state, signal, charge: sender => chargeNode(state, sender, context.address) }),
  })
}

/** Maximum bytes of an HTTP request with an envelope that contains a query and its vector. */
const ENVELOPE_LIMIT = 128 * 1024

export const NODE_OPERATIONS = [
  nodeOperation(
    {
      name: 'nodes.query',
      summary: 'Answer a query that another node has signed',
      output: wireAnswer,
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
    },
    wireQuery,
    answerNode,
  ),
  nodeOperation(
    {
      name: 'nodes.changes',
      summary: 'Notify another node when something changed that it may see',
      output: wireChanges,
      effect: { kind: 'read', idempotent: false },
      bodyLimit: ENVELOPE_LIMIT,
      waits: true,
    },
    wireChangesQuery,
    answerChanges,
  ),
] as const

const add = operation({
  name: 'peers.add',
  summary: 'Add a node to query, or change its settings',
  input: peerInput,
  output: addedPeer,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: ({ host, signal }, input) => addPeer(host, toPeer(input), signal),
})

const listPeers = operation({
  name: 'peers.list',
  summary: 'List the other nodes',
  input: nothing,
  output: peersAnswer,
  effect: { kind: 'read', idempotent: true, ownerOnly: true },
  run: ({ host }) => ({ peers: host.store.table(PEERS).scan().map(viewOf) }),
})

const remove = operation({
  name: 'peers.remove',
  summary: 'Remove a node',
  input: peerOnly,
  output: removed,
  effect: { kind: 'destroy', idempotent: true, ownerOnly: true },
  run: async ({ host }, { id }) => {
    const before = host.store.table(PEERS).get({ id })
    if (before !== undefined) forgetHealth(host, before['did'] as string)
    return { removed: await host.store.writeWhenFree(host.clock.now(), writer => removePeer(writer, id)) }
  },
})

const about = operation({
  name: 'peers.about',
  summary: 'Return the key, model and clock of this node, signed, for other nodes',
  input: nothing,
  output: wireAbout,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, host }) => ownAbout(host, modelOf(host), state.settings),
})

export const PEER_OPERATIONS = [add, listPeers, remove, about] as const
