/** Agents of this node. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { type AgentWriting, createAgent, listAgents, updateAgent } from '../agents/agents.ts'
import { checkAgent, checkNothing } from '../check/agents.ts'
import { TRUST } from '../tables.ts'
import { type BeliefsCall, inCall } from './call.ts'

const AGENT: Readonly<Record<string, JsonObject>> = {
  id: described(TEXT, 'Its name: what it asks as, and what others trust'),
  label: described({ type: ['string', 'null'] }, 'What it is shown as'),
  did: described(
    { type: ['string', 'null'] },
    'did:key of its own Ed25519 key; without one this node keeps a key for it',
  ),
  reputation: described({ type: ['number', 'null'], minimum: 0, maximum: 1 }, 'What is known of it, in all'),
  reputation_by_domain: described({ type: ['object', 'null'] }, 'The same by domain'),
  trust_graph: described({ type: ['string', 'null'] }, 'What its trust graph may be called in a query'),
}
const ONE = answers({ agent: OBJECT })

const create: Operation<LensHost> = {
  name: 'agents.create',
  summary: 'Host an agent on this node',
  input: anything(AGENT, ['id']),
  output: ONE,
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async call => ({
      agent: await writing(call, write => createAgent(write, checkAgent(input))),
    })),
}

const update: Operation<LensHost> = {
  name: 'agents.update',
  summary: 'Change what is known of an agent',
  input: anything(AGENT, ['id']),
  output: ONE,
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, async call => ({
      agent: await writing(call, write => updateAgent(write, checkAgent(input))),
    })),
}

const list: Operation<LensHost> = {
  name: 'agents.list',
  summary: 'List the agents of this node: all for the local owner, for others themselves and those they state trust in',
  input: anything({}),
  output: answers({ agents: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => {
      checkNothing(input)
      return host.store.read(reader => {
        const edges = reader.table(TRUST).scan({ owner: asker.id }, { columns: ['owner', 'target'] })
        return { agents: listAgents(reader, asker.id, new Set(edges.map(edge => edge['target'] as string))) }
      })
    }),
}

export const AGENT_OPERATIONS: readonly Operation<LensHost>[] = [create, list, update]

function writing<T>({ host, asker }: BeliefsCall, act: (write: AgentWriting) => T): Promise<T> {
  const now = host.clock.now()
  const random = (bytes: number) => host.random(bytes)
  return host.store.writeWhenFree(now, writer => act({ writer, viewer: asker.id, now, random }))
}
