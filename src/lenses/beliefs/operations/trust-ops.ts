/** What the asker says of others, and what that comes to. It sees its own statements and no others'. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import {
  answers,
  anything,
  described,
  FLAG,
  NUMBER,
  OBJECT,
  OBJECT_OR_NULL,
  OBJECTS,
  TEXT,
  TEXT_OR_NULL,
} from '../../wire-schema.ts'
import { checkOnly } from '../check/agents.ts'
import { DEFAULT_TIMEOUT_MS } from '../check/options.ts'
import { checkEdge, checkTrustPage, checkTrustQuestion } from '../check/trust.ts'
import { trustQuestion } from '../ranking/trust-columns.ts'
import { TimeLimit } from '../time-limit.ts'
import { computeTrust, listTrust, removeTrust, setTrust, type TrustWriting } from '../trust/acts.ts'
import { EXPOSURES } from '../trust/edge.ts'
import { inCall } from './call.ts'

const TARGET = described(TEXT, 'The agent that trust is put in, or federation:<id>')

const set: Operation<LensHost> = {
  name: 'trust.set',
  summary: 'State how far the asker trusts another agent, in all and by domain; 0 is distrust',
  input: anything(
    {
      target: TARGET,
      trust_level: described({ type: 'number', minimum: 0, maximum: 1 }, 'In all; 0 is distrust'),
      domain_trust: described(OBJECT, 'Levels by domain'),
      basis: described(OBJECTS, '{type, confidence}; MANUAL decays ten times as slowly'),
      persistent: described(FLAG, 'Does not decay'),
      exposure: described(
        { type: 'string', enum: [...EXPOSURES] },
        "exposed: takes part in others' routes even when its owner is not hosted here; default private",
      ),
      created: described({ type: 'string', format: 'date-time' }, 'When it was stated first, of a signed one'),
      updated: described({ type: 'string', format: 'date-time' }, 'When it was stated last, of a signed one'),
      signature: described(TEXT, 'Of an agent with a key of its own, with created and updated'),
    },
    ['target', 'trust_level'],
  ),
  output: answers({ edge: OBJECT }),
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, async ({ asker }) => ({
      edge: await setTrust(writingOf(host), asker.id, checkEdge(input, asker.id)),
    })),
}

const remove: Operation<LensHost> = {
  name: 'trust.remove',
  summary: 'Take a statement of trust back: the other is a stranger again',
  input: anything({ target: TARGET }, ['target']),
  output: answers({ removed: FLAG }),
  effect: { kind: 'destroy', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => removeTrust(writingOf(host), asker.id, checkOnly(input, 'target'))),
}

const list: Operation<LensHost> = {
  name: 'trust.list',
  summary: 'List the statements of trust of the asker',
  input: anything({
    after: described(TEXT, 'Only targets behind this one'),
    limit: described({ type: 'integer' }, 'How many at most'),
  }),
  output: answers({ edges: OBJECTS, after: TEXT_OR_NULL, did: TEXT_OR_NULL }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => listTrust(host.store, asker.id, checkTrustPage(input))),
}

const compute: Operation<LensHost> = {
  name: 'trust.compute',
  summary: 'Tell what the asker’s trust in an agent comes to, and of what kind it is',
  input: anything({ target: TARGET, context: described(OBJECT, 'As in a query') }, ['target']),
  output: answers({
    target: TEXT,
    trust: NUMBER,
    kind: TEXT,
    direct: OBJECT_OR_NULL,
    transitive: OBJECT_OR_NULL,
    as_of: TEXT,
  }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state, asker, signal, machineTime }) => {
      const { target, context: asked } = checkTrustQuestion(input, asker)
      const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
      const look = () => time.check()
      return computeTrust(state.trust, asker.id, target, trustQuestion(asked), host.clock.now(), look)
    }),
}

export const TRUST_OPERATIONS: readonly Operation<LensHost>[] = [set, remove, list, compute]

function writingOf(host: LensHost): TrustWriting {
  return { store: host.store, now: host.clock.now(), random: bytes => host.random(bytes) }
}
