/** What operations on trust, agents, federations and other nodes answer. */
import { z } from 'zod'
import { count, level, moment, sourcesBand, text, trustBand, trustKind, warnings } from '../model.ts'
import { BASIS_TYPES, EXPOSURES } from '../trust/edge.ts'
import { membershipStatement, PERMISSIONS, STATUSES } from './agents.ts'
import { flag, object, type Value } from './values.ts'

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
  warnings: warnings.optional().describe('What you may not have meant; absent: nothing'),
})
export const removed = object({ removed: flag.describe('Whether there was one to remove') })
export const edgesAnswer = object({
  edges: z.array(edge).describe('Your statements of trust, by target'),
  after: text.nullable().describe('For after: continues after this page; null: there is no more'),
  did: text.nullable().describe('did:key that the signatures are checked with; null: you never signed anything'),
})
export const trustAnswer = object({
  target: text.describe('In whom'),
  trust: level.describe('What your trust comes to, 0 to 1'),
  kind: trustKind.describe('What it rests on'),
  distrusted: flag.describe('Whether you state distrust'),
  direct: object({
    trust_level: level.describe('Level as you stated it, 0 to 1'),
    entries: z.record(z.string(), level).describe('Levels by domain of the context, 0 to 1'),
    base: level.describe('Level and entries combined, before decay'),
    days_unused: z.number().min(0).describe('Days since the statement was used last'),
    daily_rate: z.number().min(0).describe('Share that fades in a day'),
    decayed: z.number().describe('What is left after decay, 0 to 1'),
  })
    .nullable()
    .describe('Your own statement; null: there is none'),
  transitive: object({
    band: trustBand.describe('Size: low below 0.2, medium below 0.4, else high'),
    sources: sourcesBand.describe('How many agents that you trust vouch'),
    capped: flag.describe('Whether it was lowered for too few sources or too new an agent'),
  })
    .nullable()
    .describe('What rests on statements of others; null: there are none, or none was needed'),
  reputation: level.nullable().describe('What is known of it in the domains of the context, 0 to 1; null: nothing'),
  as_of: asOf,
})

const agent = object({
  id: text.describe('Name that it asks by'),
  label: text.nullable().describe('Name that people are shown; null: none'),
  did: text.nullable().describe('did:key of its key; null: it never signed anything'),
  signs_here: flag.describe('Whether this node keeps its key and signs for it'),
  reputation: level.nullable().describe('What is known of it in general, 0 to 1; null: nothing'),
  reputation_by_domain: z.record(z.string(), level).describe('The same by domain, 0 to 1 each'),
  trust_graph: text.nullable().describe('Name by which its queries may call its trust graph; null: none but its id'),
  created_at: moment.describe('When this node began to host it'),
})
export type AgentView = Value<typeof agent>
export const oneAgent = object({ agent: agent.describe('The agent as it is now') })
export const agentsAnswer = object({ agents: z.array(agent).describe('By id') })

const membership = object({
  federation_id: text.describe('Of which federation'),
  agent_id: text.describe('Of which agent'),
  status: z.enum(STATUSES).describe('Whether it is a member'),
  role: text.describe('What it may do there: founder, admin, moderator, member or observer'),
  permissions: z.array(z.enum(PERMISSIONS)).nullable().describe('What it may ask and give; null: all there are'),
  joined_at: moment.describe('When it became a member'),
})
export type MembershipView = Value<typeof membership>
export const oneMembership = object({ membership: membership.describe('The membership as it is now') })

const federation = object({
  id: text.describe('Name of the federation'),
  label: text.nullable().describe('Name that people are shown; null: none'),
  did: text.nullable().describe('did:key of its key; null: it has none'),
  joining: z.enum(['open', 'invited']).describe('open: agents may join by themselves'),
  results: z.enum(['individual', 'aggregate']).describe('aggregate: figures with noise in place of beliefs'),
  aggregates: object({
    least_members: count.describe('Members that must hold something of a topic before it is reported'),
    query_epsilon: z.number().describe('Privacy (epsilon) that an answer costs, 0.1 to 5'),
    daily_epsilon: z.number().describe('Epsilon of all answers to a member in a day, 0.1 to 50'),
  })
    .optional()
    .describe('What protects its members; only where results is aggregate'),
  anonymity: z.enum(['pseudonyms', 'strict']).describe('strict: results show no holders'),
  reputation: level.nullable().describe('Of the federation as a whole, 0 to 1; null: not known'),
  created_at: moment.describe('When it was founded, or first heard of'),
  membership: membership.nullable().describe('Your own; null: you are no member'),
  members: z.array(membership).optional().describe('All members; only for the local owner and those who run it'),
})
export type FederationView = Value<typeof federation>
export const oneFederation = object({ federation: federation.describe('The federation as it is now') })
export const federationsAnswer = object({ federations: z.array(federation).describe('By id') })

export const signedMembership = object({
  statement: membershipStatement.describe('What the federation states'),
  signature: text.describe('Ed25519 in base64url over the statement, by the key of the federation'),
})
export const accepted = object({
  federation: federation.describe('The federation as it is known here now'),
  agent: text.describe('Agent of this node whose membership it is, by its name'),
  taken: flag.describe('false: a statement that is as new, or newer, is known already'),
  expires_at: moment.describe('When the membership ends if nobody renews it'),
})
export type Accepted = Value<typeof accepted>
export type SignedMembership = Value<typeof signedMembership>

const peer = object({
  id: text.describe('Name of the node here'),
  address: text.describe('Where it answers'),
  did: text.describe('did:key of the node'),
  network: flag.describe('Whether it is asked for public beliefs'),
  federations: z.array(text).describe('Federations that it is asked for'),
  model: text.nullable().describe('Key of the model that it embeds with; null: not known, or none'),
  added_at: moment.describe('When it was added'),
  last_success: moment.nullable().describe('When it answered last; null: it never did'),
  failures: count.describe('Failures in a row, in this process'),
  resting_until: moment.nullable().describe('Until when it is not asked, after failures; null: it is asked'),
})
export type PeerView = Value<typeof peer>
export const addedPeer = object({
  peer: peer.describe('The peer as it is now'),
  identity: z
    .enum(['given', 'first_use'])
    .describe(
      'given: its key was named, now or before. first_use: whoever answered at the address was taken for the node',
    ),
  reached: flag.describe('Whether it answered, and showed that key'),
})
export type Added = Value<typeof addedPeer>
export const peersAnswer = object({ peers: z.array(peer).describe('By id') })
