/** Input schemas of the operations on trust, agents, federations and other nodes (BQ-064, BQ-068, BQ-069, BQ-081, BQ-092, BQ-105). */
import { z } from 'zod'
import { MAX_NAME_LENGTH } from '../../../model/limits.ts'
import { DEFAULT_ANSWER, DEFAULT_DAY, inOnes, thousandths } from '../aggregates/mechanism.ts'
import { count, level, moment, sourcesBand, text, trustBand, trustKind, warnings } from '../model.ts'
import { BASIS_TYPES, EXPOSURES } from '../trust/edge.ts'
import type { EdgeDraft } from '../trust/edges.ts'
import { request } from './faults.ts'
import { context } from './filters.ts'
import {
  across,
  address,
  addressOf,
  agentName,
  byDomain,
  did,
  didForm,
  federationName,
  field,
  flag,
  id,
  integerIn,
  list,
  normalByDomain,
  numberIn,
  object,
  oneOf,
  share,
  textUpTo,
  time,
  toInstant,
  type Value,
} from './values.ts'

export const STATUSES = ['active', 'suspended', 'departed'] as const
export const ROLES = ['founder', 'admin', 'moderator', 'member', 'observer'] as const
export const PERMISSIONS = ['query_beliefs', 'share_beliefs', 'view_aggregates'] as const

const MAX_BASES = 20
/** Maximum length of a signature in base64url; an Ed25519 signature has 86 characters. */
const MAX_SIGNATURE = 128

const target = id.describe('Agent that trust is put in, or federation:<id>')
const label = textUpTo(MAX_NAME_LENGTH).nullable()
const federation = id.describe('Federation of this node')

/** Schema of the input of operations that have no input fields. */
export const nothing = request(object({}))

export const trustSetInput = request(
  object({
    target,
    trust_level: share.describe('How far you trust it in general, 0 to 1; 0 is distrust'),
    domain_trust: field(byDomain, 'The same by domain, 0 to 1 each, at most 50 domains', {}),
    basis: field(
      list(
        object({
          type: oneOf(BASIS_TYPES).describe('Kind of experience; MANUAL decays ten times as slowly'),
          confidence: field(share, 'How sure you are of it, 0 to 1', 1),
        }),
        MAX_BASES,
        'bases',
      ),
      'What the statement rests on, at most 20 entries',
      [],
    ),
    persistent: field(flag, 'Whether it does not decay', false),
    exposure: field(
      oneOf(EXPOSURES),
      "exposed: takes part in others' routes even where you are not hosted here",
      'private',
    ),
    created: field(time, 'When it was stated first; only with signature. Default: now, or as before'),
    updated: field(time, 'When it was stated last; only with signature. Default: now'),
    signature: field(
      textUpTo(MAX_SIGNATURE),
      'Ed25519 in base64url, by an agent with a key of its own; with created and updated. Default: this node signs',
    ),
  })
    .refine(
      ({ created, updated, signature }) =>
        new Set([created, updated, signature].map(each => each === undefined)).size === 1,
      across(
        ['created', 'updated', 'signature'],
        'incomplete',
        'created, updated and signature together, or none of them',
      ),
    )
    .meta({
      dependentRequired: {
        created: ['updated', 'signature'],
        updated: ['created', 'signature'],
        signature: ['created', 'updated'],
      },
    }),
)

export function toEdge(given: Value<typeof trustSetInput>): EdgeDraft {
  const { target, created, updated, signature } = given
  return {
    target,
    level: given.trust_level,
    domains: normalByDomain(given.domain_trust ?? {}),
    basis: (given.basis ?? []).map(({ type, confidence = 1 }) => ({ type, confidence })),
    persistent: given.persistent ?? false,
    exposure: given.exposure ?? 'private',
    signed:
      created === undefined || updated === undefined || signature === undefined
        ? null
        : { createdAt: toInstant(created), updatedAt: toInstant(updated), signature },
  }
}

export const trustRemoveInput = request(object({ target }))

export const trustListInput = request(
  object({
    after: field(
      id.nullable(),
      'Only targets after this one: the after of the previous page; null: from the first',
      null,
    ),
    limit: field(integerIn(1, 1_000), 'Most statements of a page', 1_000),
  }),
)

export const trustComputeInput = request(
  object({ target, context: field(context, 'The requester, and how trust is weighed, as in a query', {}) }),
)

const agentFields = {
  label: field(label, 'Name that people are shown; null removes it. Default: as before, or none'),
  did: field(
    didForm.nullable(),
    'did:key of its own Ed25519 key; null removes it. Default: as before, or this node keeps a key for it',
  ),
  reputation: field(
    share.nullable(),
    'Reputation of the agent in general, 0 to 1; null removes it. Default: as before, or none',
  ),
  reputation_by_domain: field(
    byDomain.nullable(),
    'Reputation of the agent by domain, 0 to 1 each, at most 50 domains; null removes it. Default: as before, or none',
  ),
  trust_graph: field(
    label,
    'Name by which its queries may call its trust graph; null removes it. Default: as before, or none',
  ),
}

/** Input for writing an agent. A field that is undefined leaves the stored value unchanged; null removes the stored value. */
export const agentInput = request(
  object({
    id: id.describe('Name that it queries with, and that others trust: no blanks, colons and commas'),
    ...agentFields,
  }),
)
export type NewAgent = Value<typeof agentInput>

/** Schema of an epsilon (privacy budget) between these bounds, both inclusive, with at most three decimals. */
const epsilonIn = (min: number, max: number) =>
  numberIn(min, max).refine(given => inOnes(thousandths(given)) === given, 'a number with at most three decimals')

const aggregateRules = {
  sensitive: field(flag, 'With aggregates: figures of a topic need at least ten members, not five', false),
  query_epsilon: field(
    epsilonIn(0.1, 5),
    'With aggregates: privacy (epsilon) that an answer costs, 0.1 to 5, at most three decimals',
    inOnes(DEFAULT_ANSWER),
  ),
  daily_epsilon: field(
    epsilonIn(0.1, 50),
    'With aggregates: epsilon of all answers to a member in a day, 0.1 to 50, not below query_epsilon',
    inOnes(DEFAULT_DAY),
  ),
}

export const federationInput = request(
  object({
    id: id.describe('Name; a unique suffix is added unless the local owner creates it'),
    label: field(label, 'Name that people are shown', null),
    results: field(
      oneOf(['individual', 'aggregate']),
      'aggregate: no single beliefs, but figures with noise (federations.aggregate)',
      'individual',
    ),
    ...aggregateRules,
    anonymity: field(
      oneOf(['pseudonyms', 'strict']),
      'strict: results show no holders, and trust in the federation counts. pseudonyms: each holder has one for each requester, and trust in the holder counts by its band; who knows the members may guess',
      'strict',
    ),
    reputation: field(
      share.nullable(),
      'Reputation of the federation as a whole, 0 to 1; only the local owner sets it, and it counts where the requester states no trust',
      null,
    ),
  })
    .superRefine((given, check) => {
      if (given.results === 'aggregate') return
      for (const name of ['sensitive', 'query_epsilon', 'daily_epsilon'] as const) {
        if (given[name] === undefined) continue
        const message = 'no such field unless results is aggregate'
        check.addIssue({ code: 'custom', path: [name], message, params: { reason: 'not_aggregate' } })
      }
    })
    .refine(
      ({ results, query_epsilon: answer, daily_epsilon: day }) =>
        results !== 'aggregate' || (day ?? inOnes(DEFAULT_DAY)) >= (answer ?? inOnes(DEFAULT_ANSWER)),
      across<{ query_epsilon?: number }>(
        ['results', 'query_epsilon', 'daily_epsilon'],
        'range',
        ({ query_epsilon: answer = inOnes(DEFAULT_ANSWER) }) => `a number of at least query_epsilon, ${answer}`,
        ['daily_epsilon'],
      ),
    ),
)
export type NewFederation = Value<typeof federationInput>

export const federationOnly = request(object({ federation }))

const permission = oneOf(PERMISSIONS)

export const memberInput = request(
  object({
    federation,
    agent: agentName.describe('Agent of this node by its name, or of another node by its did:key'),
    status: field(oneOf(STATUSES), 'Whether it is a member. Default: as before, or active'),
    role: field(oneOf(ROLES), 'What it may do there; founders and admins run it. Default: as before, or member'),
    permissions: field(
      list(permission, 50, 'permissions').nullable(),
      'Permissions; null: all. Default: as before, or all',
    ),
  }),
)
export type NewMember = Value<typeof memberInput>

/**
 * Input for writing a node to the list of queried nodes. If the node is already listed, an undefined field leaves the stored value
 * unchanged.
 */
export const peerInput = request(
  object({
    id: field(federationName, 'Name of the node here. Default: host and port of its address'),
    address: address.describe('Scheme, host and port where it answers, such as https://node.example:7411'),
    did: field(did, 'did:key of the node. Default: as before; for a new node the key that it shows is trusted once'),
    network: field(
      flag,
      'Whether it is queried for public beliefs. Default: as before; yes unless federations are named',
    ),
    federations: field(
      list(federationName, 100, 'federations'),
      'Federations that are queried there, at most 100. Default: as before, or none',
    ),
  }),
)
export type PeerInput = Value<typeof peerInput>

/** Converts the input for a listed node to normal form: its address reduced to the origin, its federations ascending and each once. */
export function toPeer({ address, federations, ...given }: PeerInput): PeerInput {
  const named = federations && { federations: [...new Set(federations)].sort() }
  // The cast is safe: the schema `address` accepts only texts that have an origin.
  return { ...given, address: addressOf(address) as string, ...named }
}

export const peerOnly = request(object({ id: federationName.describe('Name of the peer here') }))

// Answer schemas of the operations on trust, agents, federations and other nodes.

const asOf = moment.describe('Moment that all ages in the answer refer to')

const edge = object({
  owner: text.describe('Agent that states it'),
  target: text.describe('Agent that trust is put in, or federation:<id>'),
  trust_level: level.describe('How far it is trusted in general, 0 to 1; 0 is distrust'),
  domain_trust: z.record(z.string(), level).describe('The same by domain, 0 to 1 each'),
  basis: z
    .array(
      object({
        type: z.enum(BASIS_TYPES).describe('Kind of experience'),
        confidence: level.describe('How sure, 0 to 1'),
      }),
    )
    .describe('What the statement rests on'),
  created: moment.describe('When it was stated first'),
  updated: moment.describe('When it was stated last'),
  persistent: flag.describe('Whether it does not decay'),
  exposure: z.enum(EXPOSURES).describe("exposed: takes part in others' routes even where its owner is not hosted here"),
  last_used: moment.describe('When an answer rested on it last'),
  signature: text.describe("Ed25519 in base64url over the statement, by the owner's key"),
})
export type EdgeView = Value<typeof edge>
export const oneEdge = object({
  edge: edge.describe('The statement as it is stored and signed'),
  warnings: warnings.optional().describe('Warnings; absent: none'),
})
export const removed = object({ removed: flag.describe('Whether there was a statement to remove') })
export const edgesAnswer = object({
  edges: z.array(edge).describe('Your statements of trust, by target'),
  after: text.nullable().describe('For after: continues after this page; null: there is no more'),
  did: text.nullable().describe('did:key that the signatures are checked with; null: you never signed anything'),
})
export const trustAnswer = object({
  target: text.describe('Agent or federation that is trusted'),
  trust: level.describe('Your effective trust, 0 to 1'),
  kind: trustKind.describe('Premises'),
  distrusted: flag.describe('Whether you state distrust'),
  direct: object({
    trust_level: level.describe('Level as you stated it, 0 to 1'),
    entries: z.record(z.string(), level).describe('Levels by domain of the context, 0 to 1'),
    base: level.describe('Level and entries combined, before decay'),
    days_unused: z.number().min(0).describe('Days since the statement was used last'),
    daily_rate: z.number().min(0).describe('Share that fades in a day'),
    decayed: z.number().describe('Value after decay, 0 to 1'),
  })
    .nullable()
    .describe('Your own statement; null: there is none'),
  transitive: object({
    band: trustBand.describe('Size: low below 0.2, medium below 0.4, else high'),
    sources: sourcesBand.describe('How many agents that you trust vouch'),
    capped: flag.describe('Whether it was lowered for too few sources or too new an agent'),
  })
    .nullable()
    .describe('Trust that rests on statements of others; null: there are none, or none was needed'),
  reputation: level.nullable().describe('Reputation in the domains of the context, 0 to 1; null: unknown'),
  as_of: asOf,
})

const agent = object({
  id: text.describe('Name that it queries with'),
  label: text.nullable().describe('Name that people are shown; null: none'),
  did: text.nullable().describe('did:key of its key; null: it never signed anything'),
  signs_here: flag.describe('Whether this node keeps its key and signs for it'),
  reputation: level.nullable().describe('Reputation in general, 0 to 1; null: unknown'),
  reputation_by_domain: z.record(z.string(), level).describe('The same by domain, 0 to 1 each'),
  trust_graph: text.nullable().describe('Name by which its queries may call its trust graph; null: none but its id'),
  created_at: moment.describe('When this node began to host it'),
})
export type AgentView = Value<typeof agent>
export const oneAgent = object({ agent: agent.describe('The agent as it is now') })
export const agentsAnswer = object({ agents: z.array(agent).describe('By id') })

const membership = object({
  federation_id: text.describe('Federation of the membership'),
  agent_id: text.describe('Agent that is the member'),
  status: z.enum(STATUSES).describe('Whether it is a member'),
  role: text.describe('Role: founder, admin, moderator, member or observer'),
  permissions: z.array(z.enum(PERMISSIONS)).nullable().describe('Permissions; null: all'),
  joined_at: moment.describe('When it became a member'),
})
export type MembershipView = Value<typeof membership>
export const oneMembership = object({ membership: membership.describe('The membership as it is now') })

const shownFederation = object({
  id: text.describe('Name of the federation'),
  label: text.nullable().describe('Name that people are shown; null: none'),
  results: z.enum(['individual', 'aggregate']).describe('aggregate: figures with noise in place of beliefs'),
  aggregates: object({
    least_members: count.describe('Members that must hold something of a topic before it is reported'),
    query_epsilon: z.number().describe('Privacy (epsilon) that an answer costs, 0.1 to 5'),
    daily_epsilon: z.number().describe('Epsilon of all answers to a member in a day, 0.1 to 50'),
  })
    .optional()
    .describe('What protects its members; only where results is aggregate'),
  anonymity: z.enum(['pseudonyms', 'strict']).describe('strict: results show no holders'),
  reputation: level.nullable().describe('Reputation of the federation as a whole, 0 to 1; null: not known'),
  created_at: moment.describe('When it was founded, or first heard of'),
  membership: membership.nullable().describe('Your own membership; null: you are not a member'),
  members: z.array(membership).optional().describe('All members; only for the local owner and those who run it'),
})
export type FederationView = Value<typeof shownFederation>
export const oneFederation = object({ federation: shownFederation.describe('The federation as it is now') })
export const federationsAnswer = object({ federations: z.array(shownFederation).describe('By id') })

const peer = object({
  id: text.describe('Name of the node here'),
  address: text.describe('Where it answers'),
  did: text.describe('did:key of the node'),
  network: flag.describe('Whether it is queried for public beliefs'),
  federations: z.array(text).describe('Federations that are queried there'),
  added_at: moment.describe('When it was added'),
})
export type PeerView = Value<typeof peer>
export const addedPeer = object({
  peer: peer.describe('The peer as it is now'),
  identity: z
    .enum(['given', 'first_use'])
    .describe(
      'given: its key was named, now or before. first_use: whoever answered at the address was taken for the node',
    ),
})
export type Added = Value<typeof addedPeer>
export const peersAnswer = object({ peers: z.array(peer).describe('By id') })
