/** What the requester says of others, and what that comes to. It sees its own statements and no others'. */
import type { LensHost } from '../../lens.ts'
import { trustQuestion } from '../ranking/trust-columns.ts'
import { edgesAnswer, oneEdge, removed, trustAnswer } from '../schema/agent-answers.ts'
import { toEdge, trustComputeInput, trustListInput, trustRemoveInput, trustSetInput } from '../schema/agents.ts'
import { toContext } from '../schema/context.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import { TimeLimit } from '../time-limit.ts'
import { computeTrust, listTrust, removeTrust, setTrust, type TrustWriting } from '../trust/acts.ts'
import { operation } from './call.ts'
import { trustWarnings, warnedOf } from './writing-warnings.ts'

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

const list = operation({
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

export const TRUST_OPERATIONS = [set, remove, list, compute] as const

function writingOf(host: LensHost): TrustWriting {
  return { store: host.store, now: host.clock.now(), random: bytes => host.random(bytes) }
}
