/** What the asker says of others, and what that comes to. It sees its own statements and no others'. */

import { toIso } from '../../../model/instant.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, NUMBER, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { checkOnly } from '../check/agents.ts'
import { checkEdge, checkTrustQuestion } from '../check/trust.ts'
import { holderTrust } from '../query/trust-columns.ts'
import { TRUST } from '../tables.ts'
import { EXPOSURES, edgeOf, type TrustEdge } from '../trust/edge.ts'
import { putEdge, removeEdge } from '../trust/edges.ts'
import { trustBand } from '../trust/holders.ts'
import { inCall } from './call.ts'

const TARGET = described(TEXT, 'The agent that trust is put in, or federation:<id>')

const set: Operation<LensHost> = {
  name: 'trust.set',
  summary: 'State how far the asker trusts another agent, in all and by domain; 0 is distrust',
  input: anything(
    {
      target: TARGET,
      trust_level: { type: 'number', minimum: 0, maximum: 1 },
      domain_trust: described(OBJECT, 'Levels by domain'),
      basis: described(OBJECTS, '{type, confidence}; MANUAL decays ten times as slowly'),
      persistent: described(FLAG, 'Does not decay'),
      exposure: { type: 'string', enum: [...EXPOSURES] },
      created: { type: 'string', format: 'date-time' },
      updated: { type: 'string', format: 'date-time' },
      signature: described(TEXT, 'Of an agent with a key of its own, with created and updated'),
    },
    ['target', 'trust_level'],
  ),
  output: answers({ edge: OBJECT }),
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => {
      const draft = checkEdge(input, asker.id)
      const now = host.clock.now()
      const random = (bytes: number) => host.random(bytes)
      return { edge: viewOf(host.store.write(now, writer => putEdge(writer, asker.id, draft, { now, random }))) }
    }),
}

const remove: Operation<LensHost> = {
  name: 'trust.remove',
  summary: 'Take a statement of trust back: the other is a stranger again',
  input: anything({ target: TARGET }, ['target']),
  output: answers({ removed: FLAG }),
  effect: { kind: 'destroy', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => {
      const target = checkOnly(input, 'target')
      return { removed: host.store.write(host.clock.now(), writer => removeEdge(writer, asker.id, target)) }
    }),
}

const list: Operation<LensHost> = {
  name: 'trust.list',
  summary: 'List the statements of trust of the asker',
  input: anything({}),
  output: answers({ edges: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  run: (host, _, context) =>
    inCall(host, context, ({ asker }) => ({
      edges: host.store
        .table(TRUST)
        .scan({ owner: asker.id })
        .flatMap(row => edgeOf(row) ?? [])
        .map(viewOf),
    })),
}

const compute: Operation<LensHost> = {
  name: 'trust.compute',
  summary: 'Tell what the asker’s trust in an agent comes to, and of what kind it is',
  input: anything({ target: TARGET, context: described(OBJECT, 'As in a query') }, ['target']),
  output: answers({ target: TEXT, value: NUMBER, kind: TEXT, direct: OBJECT, transitive: OBJECT, as_of: TEXT }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state, asker }) => {
      const { target, context: asked } = checkTrustQuestion(input, asker)
      const asOf = host.clock.now()
      const { value, kind, direct, transitive, reputation, distrusted } = holderTrust(
        state.trust,
        asker.id,
        asked,
        asOf,
      ).of(target)
      return {
        target,
        value,
        kind,
        distrusted,
        direct,
        // What rests on others' edges is told as the explanations tell it (BQ-107).
        transitive: transitive && {
          band: trustBand(transitive.level),
          sources: transitive.sources > 1 ? 'several' : 'one',
        },
        reputation,
        as_of: toIso(asOf),
      }
    }),
}

export const TRUST_OPERATIONS: readonly Operation<LensHost>[] = [set, remove, list, compute]

function viewOf({ level, domains, createdAt, updatedAt, lastUsed, ...edge }: TrustEdge): object {
  return {
    ...edge,
    trust_level: level,
    domain_trust: domains,
    created: toIso(createdAt),
    updated: toIso(updatedAt),
    last_used: toIso(lastUsed),
  }
}
