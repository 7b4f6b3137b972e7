/** Agents of this node, and what the requester says of others: it sees its own statements of trust and no others'. */
import type { LensHost } from '../../lens.ts'
import { type AgentWriting, createAgent, listAgents, updateAgent } from '../agents/agents.ts'
import { trustQuestion } from '../ranking/trust-columns.ts'
import { agentsAnswer, edgesAnswer, oneAgent, oneEdge, removed, trustAnswer } from '../schema/agent-answers.ts'
import {
  agentInput,
  nothing,
  toEdge,
  trustComputeInput,
  trustListInput,
  trustRemoveInput,
  trustSetInput,
} from '../schema/agents.ts'
import { toContext } from '../schema/context.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import { TRUST } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { computeTrust, listTrust, removeTrust, setTrust, type TrustWriting } from '../trust/acts.ts'
import { type BeliefsCall, operation } from './call.ts'
import { trustWarnings, warnedOf } from './writing-warnings.ts'

const create = operation({
  name: 'agents.create',
  summary: 'Host an agent on this node',
  input: agentInput,
  output: oneAgent,
  effect: { kind: 'write', idempotent: false },
  run: async (call, input) => ({ agent: await writing(call, write => createAgent(write, input)) }),
})

const update = operation({
  name: 'agents.update',
  summary: 'Change what is known of an agent',
  input: agentInput,
  output: oneAgent,
  effect: { kind: 'write', idempotent: true },
  run: async (call, input) => ({ agent: await writing(call, write => updateAgent(write, input)) }),
})

const list = operation({
  name: 'agents.list',
  summary: 'List the agents of this node: all for the local owner, for others themselves and those they state trust in',
  input: nothing,
  output: agentsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }) =>
    host.store.read(reader => {
      const edges = reader.table(TRUST).scan({ owner: agent.id }, { columns: ['owner', 'target'] })
      return { agents: listAgents(reader, agent.id, new Set(edges.map(edge => edge['target'] as string))) }
    }),
})

export const AGENT_OPERATIONS = [create, list, update] as const

function writing<T>({ host, agent }: BeliefsCall, act: (write: AgentWriting) => T): Promise<T> {
  const now = host.clock.now()
  const random = (bytes: number) => host.random(bytes)
  return host.store.writeWhenFree(now, writer => act({ writer, viewer: agent.id, now, random }))
}

const set = operation({
  name: 'trust.set',
  summary: 'State how far the requester trusts another agent, in all and by domain; 0 is distrust',
  input: trustSetInput,
  output: oneEdge,
  effect: { kind: 'write', idempotent: true },
  run: async ({ host, agent }, input) => {
    const edge = await setTrust(writingOf(host), agent.id, toEdge(input))
    return { edge, ...warnedOf(trustWarnings(host.store, agent.id, input.target)) }
  },
})

const remove = operation({
  name: 'trust.remove',
  summary: 'Take a statement of trust back: the other is a stranger again',
  input: trustRemoveInput,
  output: removed,
  effect: { kind: 'destroy', idempotent: true },
  run: ({ host, agent }, { target }) => removeTrust(writingOf(host), agent.id, target),
})

const listStated = operation({
  name: 'trust.list',
  summary: 'List the statements of trust of the requester',
  input: trustListInput,
  output: edgesAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ host, agent }, page) => listTrust(host.store, agent.id, page),
})

const compute = operation({
  name: 'trust.compute',
  summary: 'Tell what the requester’s trust in an agent comes to, and of what kind it is',
  input: trustComputeInput,
  output: trustAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, host, agent, signal, machineTime }, { target, context }) => {
    const asked = trustQuestion(toContext(context, agent))
    const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
    return computeTrust(state.trust, agent.id, target, asked, host.clock.now(), () => time.check())
  },
})

export const TRUST_OPERATIONS = [set, remove, listStated, compute] as const

function writingOf(host: LensHost): TrustWriting {
  return { store: host.store, now: host.clock.now(), random: bytes => host.random(bytes) }
}
