/** Federations: who shares with whom, memberships on other nodes, and figures in place of beliefs (BQ-105). */
import {
  createFederation,
  joinFederation,
  leaveFederation,
  listFederations,
  machineNow,
  setMember,
} from '../agents/federations.ts'
import { acceptStatement, rotateFederation, stateMembership } from '../agents/membership-statements.ts'
import { askAggregate } from '../aggregates/ask-aggregate.ts'
import { aggregateAnswer, aggregateInput, toAggregateQuestion } from '../aggregates/tally.ts'
import { accepted, federationsAnswer, oneFederation, oneMembership, signedMembership } from '../schema/agent-answers.ts'
import {
  acceptInput,
  federationInput,
  federationOnly,
  memberInput,
  nothing,
  rotation,
  statementInput,
} from '../schema/agents.ts'
import { operation, writing } from './belief-operation.ts'

const aggregate = operation({
  name: 'federations.aggregate',
  summary: 'Ask how many members of a federation hold how many beliefs on a topic, in figures that give no member away',
  input: aggregateInput,
  output: aggregateAnswer,
  effect: { kind: 'write', idempotent: true },
  run: ({ state, agent, signal }, input) => askAggregate(state, agent.id, toAggregateQuestion(input), signal),
})

const create = operation({
  name: 'federations.create',
  summary: 'Found a federation; the requester is its first member',
  input: federationInput,
  output: oneFederation,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => {
    const newId = () => Buffer.from(call.host.random(8)).toString('hex')
    return { federation: await writing(call, write => createFederation(write, input, newId)) }
  },
})

const join = operation({
  name: 'federations.join',
  summary: 'Join an open federation',
  input: federationOnly,
  output: oneFederation,
  effect: { kind: 'write', idempotent: true },
  run: async (call, { federation }) => ({
    federation: await writing(call, write => joinFederation(write, federation)),
  }),
})

const leave = operation({
  name: 'federations.leave',
  summary: 'Leave a federation: what it shares, and what the requester shares with it, is seen no more',
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
  summary: 'List the federations that the requester is or was in; all of them for the local owner',
  input: nothing,
  output: federationsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }) => ({ federations: host.store.read(reader => listFederations(reader, agent.id)) }),
})

const statement = operation({
  name: 'federations.statement',
  summary: 'State the membership of an agent, signed by the federation, for the node of that agent',
  input: statementInput,
  output: signedMembership,
  effect: { kind: 'write', idempotent: true },
  run: (call, input) => writing(call, write => stateMembership({ ...write, now: machineNow(call.host) }, input)),
})

const accept = operation({
  name: 'federations.accept',
  summary: 'Take what a federation of another node states of an agent here, which may then ask in its name',
  input: acceptInput,
  output: accepted,
  effect: { kind: 'write', idempotent: true },
  run: (call, input) => writing(call, write => acceptStatement(write, input, machineNow(call.host))),
})

const rotate = operation({
  name: 'federations.rotate',
  summary: 'Give a federation a new key, signed by the old one, which signs nothing more',
  input: federationOnly,
  output: rotation,
  effect: { kind: 'write', idempotent: false },
  run: (call, { federation }) =>
    writing(call, write => rotateFederation({ ...write, now: machineNow(call.host) }, federation)),
})

export const FEDERATION_OPERATIONS = [create, join, leave, member, list, statement, accept, rotate, aggregate] as const
