/**
 * What an aggregate is asked of, and the true figures of that topic in a federation (BQ-105). Texts that differ in
 * case and blanks alone are one topic, with one answer. The figures are the same for every requester: whether a belief
 * is of the topic is decided by that belief alone, and of copies none is dropped, so that nobody's beliefs bear on how
 * another's are counted.
 */
import { z } from 'zod'
import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { StepPace, type Steps } from '../../../base/turns.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { Members } from '../../../pipeline/access.ts'
import { FEDERATED } from '../access/row-origins.ts'
import type { ShowView } from '../access/show.ts'
import { vectorIndex } from '../embedding.ts'
import { foldContent, tokensOf } from '../matching/literal.ts'
import { Matches } from '../matching/matches.ts'
import { meetingOperators, type Operand } from '../matching/operators.ts'
import { isWithin, normaliseDomain } from '../measures/domains.ts'
import { moment } from '../model.ts'
import { thresholdsOf } from '../query/understand.ts'
import { request } from '../schema/faults.ts'
import { across, domain, field, id, object, textUpTo, type Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { MAX_BELIEFS, type Tally } from './mechanism.ts'

export type Topic =
  /** Beliefs near it in meaning, and those in which it stands. */
  | { readonly kind: 'text'; readonly text: string }
  /** Beliefs in this domain and below it; normalised. */
  | { readonly kind: 'domain'; readonly domain: string }

export interface AggregateQuestion {
  readonly federation: string
  readonly topic: Topic
}

export function textTopic(text: string): Extract<Topic, { kind: 'text' }> {
  return { kind: 'text', text: foldContent(text).trim() }
}

/** What it is kept under: nobody's words are. */
export function topicKey(topic: Topic): string {
  return sha256(canonicalJson({ ...topic }))
}

/** Characters of a topic. */
const MAX_TOPIC = 500

const topic = textUpTo(MAX_TOPIC)
  // Some characters fold to several.
  .refine(text => textTopic(text).text.length <= MAX_TOPIC, {
    error: `text of at most ${MAX_TOPIC} characters, folded`,
    params: { reason: 'range' },
  })
  .refine(text => tokensOf(text).length > 0, 'a topic with a letter or a digit in it')

export const aggregateInput = request(
  object({
    federation: id.describe('Federation whose results are aggregates, and of which you are an active member'),
    topic: field(topic, 'What the beliefs are about, in words, 1 to 500 characters. Default: the domain says it'),
    domain: field(
      domain,
      'In place of a topic: a domain such as science/biology, with all below it. Default: the topic says it',
    ),
  })
    .refine(
      ({ topic, domain }) => topic !== undefined || domain !== undefined,
      across(['topic', 'domain'], 'required', 'a topic, or a domain in its place', ['topic']),
    )
    .refine(
      ({ topic, domain }) => topic === undefined || domain === undefined,
      across(['topic', 'domain'], 'not_alone', 'either a topic or a domain, not both', ['domain']),
    )
    .meta({
      examples: [{ federation: 'lab', topic: 'bees' }],
      oneOf: [{ required: ['topic'] }, { required: ['domain'] }],
    }),
)

export function toAggregateQuestion(given: Value<typeof aggregateInput>): AggregateQuestion {
  const { federation, topic, domain = '' } = given
  // The cast: `domain` lets through what has a normal form.
  const normal = { kind: 'domain', domain: normaliseDomain(domain) as string } as const
  return { federation, topic: topic === undefined ? normal : textTopic(topic) }
}

const count = z.int().min(0)
const epsilon = z.number().min(0).max(1_000)

const aggregate = object({
  federation_id: z.string().describe('Which federation'),
  topic: z.string().nullable().describe('Topic in normal form; null: a domain was asked for'),
  domain: z.string().nullable().describe('Domain in normal form; null: a topic was asked for'),
  epoch: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .describe('Day in UTC that the answer holds for'),
  summary: object({
    member_count: count.describe('Members that hold something of it, with noise'),
    belief_count: count.describe('Beliefs on it, at most three of a member, with noise'),
  })
    .nullable()
    .describe('The figures; null: too few members hold something of it, or the noise has it so'),
  rules: object({
    epsilon: epsilon.describe('Privacy (epsilon) of the answer, 0.1 to 5'),
    least_members: count.describe('Members that must hold something of it'),
    least_told: count.describe('Least noised number of members that is reported'),
    member_noise: count.describe('Largest noise of member_count, 95 times in 100'),
    belief_noise: count.describe('Largest noise of belief_count, 95 times in 100'),
  }).describe('What protects the members'),
})

const budget = object({
  epsilon_charged: epsilon.describe('What this answer cost; 0 where the same was asked before that day'),
  epsilon_left: epsilon.describe('What is left of the day, 0 or more'),
  epsilon_per_day: epsilon.describe('What there is for a day, 0.1 to 50'),
  renews_at: moment.describe('When the next day begins'),
})

export const aggregateAnswer = object({
  aggregate: aggregate.describe('The same for all members who ask that day'),
  budget: budget.describe('Budget of privacy of the member in this federation'),
})
export type Aggregate = Value<typeof aggregate>
export type AggregateAnswer = Value<typeof aggregateAnswer>

/** A topic and what is known of it before the store is looked at. */
export interface AskedTopic {
  readonly topic: Topic
  /** Of its text; null: there is no embedder, and where it stands word by word is all there is to go by. */
  readonly vector: Float32Array | null
}

/** Beliefs looked at in one step. */
const BELIEFS_AT_ONCE = 5_000

/** Over current beliefs, valid at this moment, that active members share with the federation. In steps. */
export function* tallyOf(
  state: BeliefsState,
  view: ShowView,
  federation: string,
  asked: AskedTopic,
  asOf: Instant,
): Steps<Tally> {
  const partitions = sharedWith(view, federation)
  const matches = yield* ofTopic(state, view, partitions, asked, yield* validIn(view, partitions, asOf))
  const { holders } = view.columns.arrays
  const counts = new Map<number, number>()
  for (const row of matches.rows) {
    const holder = holders[row] as number
    counts.set(holder, Math.min(MAX_BELIEFS, (counts.get(holder) ?? 0) + 1))
  }
  return { members: counts.size, beliefs: [...counts.values()].reduce((sum, count) => sum + count, 0) }
}

/** Ascending. */
function sharedWith({ reader }: ShowView, federation: string): readonly PartitionId[] {
  const active = new Members(reader).activeIn(federation)
  return reader.partitions().flatMap(({ id, audience }) => {
    const isShared = audience.kind === 'shared' && audience.federations.includes(federation)
    return isShared && active.has(audience.holder) ? [id] : []
  })
}

function* validIn({ columns, time }: ShowView, partitions: readonly PartitionId[], asOf: Instant): Steps<Matches> {
  const { created, validFrom, validUntil } = columns.arrays
  const tick = time?.ticker()
  const isValid = (row: number) => {
    tick?.()
    const from = Math.max(created[row] as number, validFrom[row] as number)
    return from <= asOf && (validUntil[row] as number) > asOf
  }
  const pace = new StepPace(BELIEFS_AT_ONCE)
  const rows: number[] = []
  for (const partition of partitions) {
    for (const row of columns.rowsIn(partition)) {
      if (isValid(row)) rows.push(row)
      if (pace.isOver(1)) yield
    }
  }
  const found = Int32Array.from(rows).sort()
  return new Matches(columns, found, new Uint8Array(found.length).fill(FEDERATED))
}

function* ofTopic(
  { host, contents, settings }: BeliefsState,
  { columns, model, time }: ShowView,
  partitions: readonly PartitionId[],
  { topic, vector }: AskedTopic,
  matches: Matches,
): Steps<Matches> {
  if (topic.kind === 'domain')
    return matches.where(row => columns.domainsOf(row).some(domain => isWithin(domain, topic.domain)))
  const operand: Operand = { text: topic.text, vector }
  const meeting = meetingOperators({
    ...{ columns, contents, matches, time, include: [operand], exclude: [], phrases: [] },
    thresholds: model === null ? null : thresholdsOf(settings, model),
    index: model === null ? null : vectorIndex(host, model),
    accessScope: { viewer: { id: '' }, partitions },
  })
  return yield* meeting
}
