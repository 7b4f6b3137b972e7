/** Agents of this node. */
import { type AgentWriting, createAgent, listAgents, updateAgent } from '../agents/agents.ts'
import { agentsAnswer, oneAgent } from '../schema/agent-answers.ts'
import { agentInput, nothing } from '../schema/agents.ts'
import { TRUST } from '../tables.ts'
import { type BeliefsCall, operation } from './call.ts'

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
