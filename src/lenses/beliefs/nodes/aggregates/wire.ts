/**
 * What nodes say to each other about aggregates of federations (BQ-105), as JSON beside what `wire/protocol.ts` says. The topic
 * goes as text: its one answer of the day is made with one vector, that of the node which the federation lives on.
 */
import * as z from 'zod'
import type { JsonObject } from '../../../../base/canonical.ts'
import { isStorable } from '../../../../base/storable.ts'
import { isFederationName } from '../../../../model/partition.ts'
import type { Aggregate, Budget } from '../../aggregates/ask-aggregate.ts'
import { type AggregateQuestion, type Topic, textTopic } from '../../aggregates/topic.ts'
import { MOST_TOPIC, saysSomething } from '../../check/aggregates.ts'
import { normaliseDomain } from '../../measures/domains.ts'
import { PROTOCOL } from '../wire/protocol.ts'

/** Where a node answers such questions. */
export const AGGREGATE_PATH = '/v1/nodes/aggregate'

export interface WireAggregateQuery {
  readonly protocol: typeof PROTOCOL
  readonly aggregate: AggregateQuestion
}

/** Of the three one is there, the others are null. */
export interface WireAggregateAnswer {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node that answers. */
  readonly node: string
  /** did:key of who asked. */
  readonly audience: string
  /** Of the question. */
  readonly nonce: string
  readonly timestamp: string
  readonly answer: { readonly aggregate: Aggregate; readonly budget: Budget } | null
  readonly refused: AggregateRefusal | null
  /** By the node, over `aggregateStatement`. */
  readonly signature: string
}

/** What a member is told in place of an answer. */
export type AggregateRefusal =
  /** The budget of the day does not reach. */
  | { readonly reason: 'privacy_budget'; readonly epsilon_per_day: number; readonly renews_at: string }
  /** The federation shows single beliefs: it has no aggregates. */
  | { readonly reason: 'individual' }

/** What the node signs. */
export function aggregateStatement({ signature: _, ...answer }: WireAggregateAnswer): JsonObject {
  return { type: 'querent.aggregate.v1', ...answer } as unknown as JsonObject
}

/** Null: it is none. */
export function asAggregateQuery(given: unknown): WireAggregateQuery | null {
  const read = query.safeParse(given)
  return read.success ? read.data : null
}

/** Null: it is none. */
export function asAggregateAnswer(given: unknown): WireAggregateAnswer | null {
  const read = answer.safeParse(given)
  return read.success ? read.data : null
}

export function isSameTopic({ topic, domain }: Pick<Aggregate, 'topic' | 'domain'>, asked: Topic): boolean {
  return asked.kind === 'text' ? topic === asked.text && domain === null : domain === asked.domain && topic === null
}

const instant = z.string().refine(text => Number.isFinite(Date.parse(text)) && new Date(text).toISOString() === text)
const text = z
  .string()
  .max(MOST_TOPIC)
  .refine(given => isStorable(given) && saysSomething(given) && textTopic(given).text === given)
const domain = z.string().refine(given => normaliseDomain(given) === given)
const federation = z.string().refine(isFederationName)
const short = z.string().max(400)
const count = z.int().min(0)
const epsilon = z.number().min(0).max(1_000)

const topic = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text }),
  z.strictObject({ kind: z.literal('domain'), domain }),
])

const query = z.strictObject({
  protocol: z.literal(PROTOCOL),
  aggregate: z.strictObject({ federation, topic }),
})

const aggregate = z.strictObject({
  federation_id: federation,
  topic: text.nullable(),
  domain: domain.nullable(),
  epoch: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  summary: z.strictObject({ member_count: count, belief_count: count }).nullable(),
  rules: z.strictObject({
    ...{ epsilon, least_members: count, least_told: count, member_noise: count, belief_noise: count },
  }),
})

const budget = z.strictObject({
  ...{ epsilon_charged: epsilon, epsilon_left: epsilon, epsilon_per_day: epsilon, renews_at: instant },
})

const refused = z.discriminatedUnion('reason', [
  z.strictObject({ reason: z.literal('privacy_budget'), epsilon_per_day: epsilon, renews_at: instant }),
  z.strictObject({ reason: z.literal('individual') }),
])

const answer = z
  .strictObject({
    protocol: z.literal(PROTOCOL),
    ...{ node: short, audience: short, nonce: short, timestamp: instant, signature: short },
    answer: z.strictObject({ aggregate, budget }).nullable(),
    refused: refused.nullable(),
  })
  .refine(({ answer: told, refused: why }) => (told === null) !== (why === null))
