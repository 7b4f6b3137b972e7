/**
 * What nodes say to each other about aggregates of federations (BQ-105), as JSON beside what `wire/protocol.ts` says. The topic
 * goes as text: its one answer of the day is made with one vector, that of the node which the federation lives on.
 */
import * as z from 'zod'
import type { JsonObject } from '../../../../base/canonical.ts'
import { isStorable } from '../../../../base/storable.ts'
import { isFederationName } from '../../../../model/partition.ts'
import { type Topic, textTopic } from '../../aggregates/topic.ts'
import { normaliseDomain } from '../../measures/domains.ts'
import { MAX_TOPIC, saysSomething } from '../../schema/agents.ts'
import type { Value } from '../../schema/values.ts'
import { PROTOCOL } from '../wire/protocol.ts'

/** Where a node answers such questions. */
export const AGGREGATE_PATH = '/v1/nodes/aggregate'

/** What the node signs. */
export function aggregateStatement({ signature: _, ...answer }: WireAggregateAnswer): JsonObject {
  return { type: 'querent.aggregate.v1', ...answer } as unknown as JsonObject
}

/** Null: it is none. */
export function asAggregateQuery(given: unknown): WireAggregateQuery | null {
  const read = wireAggregateQuery.safeParse(given)
  return read.success ? read.data : null
}

/** Null: it is none. */
export function asAggregateAnswer(given: unknown): WireAggregateAnswer | null {
  const read = wireAggregateAnswer.safeParse(given)
  return read.success ? read.data : null
}

export function isSameTopic({ topic, domain }: Pick<Aggregate, 'topic' | 'domain'>, asked: Topic): boolean {
  return asked.kind === 'text' ? topic === asked.text && domain === null : domain === asked.domain && topic === null
}

const instant = z
  .string()
  .refine(text => Number.isFinite(Date.parse(text)) && new Date(text).toISOString() === text)
  .meta({ format: 'date-time' })
const text = z
  .string()
  .max(MAX_TOPIC)
  .refine(given => isStorable(given) && saysSomething(given) && textTopic(given).text === given)
const domain = z.string().refine(given => normaliseDomain(given) === given)
const federation = z.string().refine(isFederationName)
const short = z.string().max(400)
const count = z.int().min(0)
const epsilon = z.number().min(0).max(1_000)

const topic = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('text').describe('In words'),
    text: text.describe('What the beliefs are about, in normal form, at most 500 characters'),
  }),
  z.strictObject({
    kind: z.literal('domain').describe('By domain'),
    domain: domain.describe('With all below it, in normal form'),
  }),
])

export const wireAggregateQuery = z.strictObject({
  protocol: z.literal(PROTOCOL).describe('Version of the protocol'),
  aggregate: z
    .strictObject({
      federation: federation.describe('Name of the federation, of which the sender is an active member'),
      topic: topic.describe('What the figures are about'),
    })
    .describe('Which figures'),
})

export type WireAggregateQuery = Value<typeof wireAggregateQuery>

const aggregate = z.strictObject({
  federation_id: federation.describe('Which federation'),
  topic: text.nullable().describe('Topic in normal form; null: a domain was asked for'),
  domain: domain.nullable().describe('Domain in normal form; null: a topic was asked for'),
  epoch: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .describe('Day in UTC that the answer holds for'),
  summary: z
    .strictObject({
      member_count: count.describe('Members that hold something of it, with noise'),
      belief_count: count.describe('Beliefs on it, at most three of a member, with noise'),
    })
    .nullable()
    .describe('The figures; null: too few members hold something of it, or the noise has it so'),
  rules: z
    .strictObject({
      epsilon: epsilon.describe('Privacy (epsilon) of the answer, 0.1 to 5'),
      least_members: count.describe('Members that must hold something of it'),
      least_told: count.describe('Least noised number of members that is reported'),
      member_noise: count.describe('Largest noise of member_count, 95 times in 100'),
      belief_noise: count.describe('Largest noise of belief_count, 95 times in 100'),
    })
    .describe('What protects the members'),
})

const renewsAt = instant.describe('When the next day begins')
const perDay = epsilon.describe('What there is for a day, 0.1 to 50')

const budget = z.strictObject({
  epsilon_charged: epsilon.describe('What this answer cost; 0 where the same was asked before that day'),
  epsilon_left: epsilon.describe('What is left of the day, 0 or more'),
  epsilon_per_day: perDay,
  renews_at: renewsAt,
})

/** As `federations.aggregate` answers, too. */
export const aggregateWithBudget = z.strictObject({
  aggregate: aggregate.describe('The same for all members who ask that day'),
  budget: budget.describe('Budget of privacy of the member in this federation'),
})
export type Aggregate = Value<typeof aggregate>
export type AggregateAnswer = Value<typeof aggregateWithBudget>

/** What a member gets in place of an answer. */
const refused = z.discriminatedUnion('reason', [
  z.strictObject({
    reason: z.literal('privacy_budget').describe('The budget of the day does not reach'),
    epsilon_per_day: perDay,
    renews_at: renewsAt,
  }),
  z.strictObject({
    reason: z.literal('individual').describe('The federation shows single beliefs: it has no aggregates'),
  }),
])

export type AggregateRefusal = Value<typeof refused>

/** Of `answer` and `refused` one is null. */
export const wireAggregateAnswer = z
  .strictObject({
    protocol: z.literal(PROTOCOL).describe('Version of the protocol'),
    node: short.describe('did:key of the node that answers'),
    audience: short.describe('did:key of the agent that asked'),
    nonce: short.describe('Nonce of what was asked'),
    timestamp: instant.describe('When it was answered'),
    signature: short.describe('Ed25519 in base64url over the other fields, by the node'),
    answer: aggregateWithBudget.nullable().describe('As federations.aggregate answers; null: it is refused'),
    refused: refused.nullable().describe('Why there is no answer, for a member; null: there is one'),
  })
  .refine(({ answer, refused: why }) => (answer === null) !== (why === null))
export type WireAggregateAnswer = Value<typeof wireAggregateAnswer>
