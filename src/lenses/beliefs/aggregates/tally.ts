/**
 * The topic of an aggregate query, and the true figures of the topic in a federation (BQ-105). Texts that differ only in case and blanks
 * are one topic with one answer. The figures are the same for every requester: whether a belief belongs to the topic depends on this belief
 * alone, and copies are not merged, so that one member's beliefs never affect how another's are counted.
 */
import { z } from 'zod'
import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { StepPace, type Steps } from '../../../base/turns.ts'
import { toIso } from '../../../model/instant.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { Members } from '../../../pipeline/access.ts'
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { FEDERATED, type ShowView } from '../access/show.ts'
import { memberOf } from '../agents/federations.ts'
import { BeliefsError, unauthorized, wrong } from '../errors.ts'
import { Matches } from '../matching/in-scope.ts'
import { foldContent, meetingOperators, type Operand, tokensOf } from '../matching/operators.ts'
import { DAY_MS } from '../measures/confidence.ts'
import { moment } from '../model.ts'
import { embedText, thresholdsOf } from '../query/understand.ts'
import { request } from '../schema/faults.ts'
import {
  across,
  type CheckedText,
  domain,
  field,
  id,
  isWithin,
  normaliseDomain,
  object,
  textUpTo,
  type Value,
} from '../schema/values.ts'
import { type BeliefsState, vectorIndex } from '../state.ts'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import {
  type AggregateRules,
  barOf,
  inOnes,
  MAX_BELIEFS,
  noisedSummary,
  noisesOf,
  reachOf,
  rulesOf,
  type Summary,
  type Tally,
} from './mechanism.ts'

export type Topic =
  /** A topic given as text: beliefs that are near to the text in meaning or contain its words. */
  | { readonly kind: 'text'; readonly text: string }
  /** A topic given as a domain in normal form: beliefs in this domain and its subdomains. */
  | { readonly kind: 'domain'; readonly domain: string }

export interface AggregateQuestion {
  readonly federation: string
  readonly topic: Topic
}

export function textTopic(text: string): Extract<Topic, { kind: 'text' }> {
  return { kind: 'text', text: foldContent(text).trim() }
}

/** Key under which the answer for a topic is stored: a hash, so that the words of a member's query are not stored. */
export function topicKey(topic: Topic): string {
  return sha256(canonicalJson({ ...topic }))
}

/** Maximum number of characters in the text of a topic. */
const MAX_TOPIC = 500

const topic = textUpTo(MAX_TOPIC)
  // The length is checked after case folding too, because some characters fold to several.
  .refine(text => textTopic(text).text.length <= MAX_TOPIC, {
    error: `text of at most ${MAX_TOPIC} characters, folded`,
    params: { reason: 'range' },
  })
  .refine(text => tokensOf(text).length > 0, 'a topic with a letter or a digit in it')

export const aggregateInput = request(
  object({
    federation: id.describe('Federation with aggregates that you are an active member of'),
    topic: field(topic, 'Topic of the beliefs, in words, 1 to 500 characters. Default: domain is used'),
    domain: field(
      domain,
      'In place of a topic: a domain such as science/biology, with all below it. Default: topic is used',
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
  // The cast is safe: the schema of the request accepts only domains that have a normal form.
  const normal = { kind: 'domain', domain: normaliseDomain(domain) as string } as const
  return { federation, topic: topic === undefined ? normal : textTopic(topic) }
}

const count = z.int().min(0)
const epsilon = z.number().min(0).max(1_000)

const aggregate = object({
  federation_id: z.string().describe('Federation that the figures are from'),
  topic: z.string().nullable().describe('Topic in normal form; null: the request has a domain'),
  domain: z.string().nullable().describe('Domain in normal form; null: the request has a topic'),
  epoch: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .describe('Day in UTC that the answer holds for'),
  summary: object({
    member_count: count.describe('Members with beliefs on it, with noise'),
    belief_count: count.describe('Beliefs on it, at most three per member, with noise'),
  })
    .nullable()
    .describe('The figures; null: too few members have beliefs on it, or seem so because of the noise'),
  rules: object({
    epsilon: epsilon.describe('Privacy (epsilon) of the answer, 0.1 to 5'),
    least_members: count.describe('Members that must have beliefs on it'),
    least_told: count.describe('Smallest number of members, with noise, that is reported'),
    member_noise: count.describe('Largest noise of member_count, 95 times in 100'),
    belief_noise: count.describe('Largest noise of belief_count, 95 times in 100'),
  }).describe('What protects the members'),
})

const budget = object({
  epsilon_charged: epsilon.describe('Cost of this answer; 0 if the same was queried before on that day'),
  epsilon_left: epsilon.describe('What is left of the daily budget, 0 or more'),
  epsilon_per_day: epsilon.describe('Budget of a day, 0.1 to 50'),
  renews_at: moment.describe('When the next day begins'),
})

export const aggregateAnswer = object({
  aggregate: aggregate.describe('The answer; on one day it is the same for all members'),
  budget: budget.describe('Privacy budget of the member in this federation'),
})
export type Aggregate = Value<typeof aggregate>
export type AggregateAnswer = Value<typeof aggregateAnswer>

/** A topic, with the vector of its text, which is made before the store is read. */
export interface AskedTopic {
  readonly topic: Topic
  /** Vector of the topic's text; null: there is no embedder, so only beliefs that contain the topic's words count. */
  readonly vector: Float32Array | null
}

/** Number of beliefs examined between two pauses. */
const BELIEFS_AT_ONCE = 5_000

/**
 * Counts a topic's true figures from current beliefs that are valid at this moment and that active members share with the federation.
 * Pauses now and then so that other work can run.
 */
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

/** Partitions whose holders are active members of the federation and share them with it, ascending. */
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

// Aggregate queries by members of a federation (BQ-105): whether the member may ask, what the answer costs from the member's privacy
// budget, and what it contains. An epoch is a day in UTC: a topic has one answer per epoch, and a member one budget per epoch. A member
// pays once for a topic, whatever the answer is and whoever was first to ask, so that the price reveals neither the figures nor who else
// has asked.

/** Identifies an answer: one topic of one federation in one epoch (a day in UTC). */
interface Place {
  readonly federation: string
  /** Number of the epoch: full days since the start of 1970, UTC. */
  readonly epoch: number
  /** Key of the topic: a hash of it. */
  readonly topic: string
}

function endOf({ epoch }: Place): Instant {
  return (epoch + 1) * DAY_MS
}

/** The stored answer for a topic in an epoch. Undefined: nobody has asked for it yet. Null: nothing is published about the topic. */
function keptSummary(reader: StoreReader, place: Place): Summary | undefined {
  const row = reader.table(AGGREGATE_ANSWERS).get({ ...place })
  if (row === undefined) return undefined
  const { member_count: members = null, belief_count: beliefs = null } = row
  return members === null ? null : { member_count: members as number, belief_count: beliefs as number }
}

/**
 * Deletes answers and charges of a federation from before the previous epoch. Those of the previous epoch are kept, so that setting the
 * clock back a little does not renew any budget.
 */
function forgetBefore(writer: StoreWriter, { federation, epoch }: Place): void {
  for (const declaration of [AGGREGATE_ANSWERS, AGGREGATE_CHARGES]) {
    const table = writer.table(declaration)
    for (;;) {
      // Rows of the table are ordered by federation, then epoch, so the first row found is of the oldest epoch.
      const oldest = table.scan({ federation }, { columns: ['epoch'], limit: 1 })[0]?.['epoch'] as number | undefined
      if (oldest === undefined || oldest >= epoch - 1) break
      table.delete({ federation, epoch: oldest })
    }
  }
}

/** A member's privacy budget in one epoch and the price of one topic, in thousandths of ε. */
interface Account {
  readonly rules: AggregateRules
  /** Amount of the budget that the member has spent in this epoch, in thousandths of ε. */
  readonly spent: number
  /** Price of the topic in thousandths of ε; 0 if the member has paid for the topic already. */
  readonly price: number
}

/**
 * The member's budget and the price of a topic. Throws UNAUTHORIZED if the member may not see the federation's aggregates, and RATE_LIMITED
 * if the topic's price exceeds what is left of the budget.
 */
function accountOf(reader: StoreReader, place: Place, member: string, now: Instant): Account {
  const rules = rulesFor(reader, place.federation, member)
  const { federation, epoch, topic } = place
  const charges = reader.table(AGGREGATE_CHARGES).scan({ federation, epoch, member }, { columns: ['topic', 'epsilon'] })
  const spent = charges.reduce((sum, row) => sum + (row['epsilon'] as number), 0)
  const price = charges.some(row => row['topic'] === topic) ? 0 : rules.epsilonAnswer
  if (price > 0 && spent + price > rules.epsilonDay) throw budgetSpent(endOf(place), inOnes(rules.epsilonDay), now)
  return { rules, spent, price }
}

function pay(writer: StoreWriter, place: Place, member: string, now: Instant): Account {
  const account = accountOf(writer, place, member, now)
  if (account.price > 0) writer.table(AGGREGATE_CHARGES).put({ ...place, member, epsilon: account.price })
  return account
}

/** The error for an exhausted privacy budget; it is the same whatever is known about the topic. */
function budgetSpent(renews: Instant, epsilonPerDay: number, now: Instant): BeliefsError {
  const renews_at = toIso(renews)
  return new BeliefsError('RATE_LIMITED', `the privacy budget of the day is spent: it renews at ${renews_at}`, {
    reason: 'privacy_budget',
    renews_at,
    retry_after_ms: Math.max(0, renews - now),
    limit: epsilonPerDay,
    window_ms: DAY_MS,
  })
}

/**
 * Rules of the federation for its aggregates. Throws UNAUTHORIZED unless the member is active and may see aggregates; the same error for a
 * federation that does not exist.
 */
function rulesFor(reader: StoreReader, federation: string, member: string): AggregateRules {
  const row = reader.table(MEMBERSHIPS).get({ federation, agent: member })
  const membership = row && memberOf(row)
  if (membership?.status !== 'active') throw unauthorized()
  if (membership.permissions !== null && !membership.permissions.includes('view_aggregates')) throw unauthorized()
  const rules = rulesOf(reader, federation)
  if (rules !== null) return rules
  const constraint = 'a federation whose results are aggregates: the beliefs of this one can be queried'
  throw wrong('federation', constraint, 'individual', null)
}

/** Time limit of an aggregate query in milliseconds; equal to that of a beliefs query that sets none. */
const MAX_MS = 5_000

/**
 * Answers an aggregate query of a member. Throws UNAUTHORIZED, also for a federation that does not exist; RATE_LIMITED, before any belief
 * is read, if the privacy budget is spent; NODE_UNAVAILABLE if the text could not be embedded, in which case nothing is charged.
 */
export async function askAggregate(
  state: BeliefsState,
  member: string,
  { federation, topic }: AggregateQuestion,
  signal: AbortSignal,
): Promise<AggregateAnswer> {
  const { store, clock, random } = state.host
  const now = clock.now()
  const place: Place = { federation, epoch: Math.floor(now / DAY_MS), topic: topicKey(topic) }
  const isKept = store.read(reader => {
    accountOf(reader, place, member, now)
    return keptSummary(reader, place) !== undefined
  })
  const time = new TimeLimit(MAX_MS, signal)
  await state.load(signal)
  const asked: AskedTopic = {
    topic,
    vector: isKept || topic.kind === 'domain' ? null : await vectorOf(state, topic.text, time),
  }
  // The price is charged before anything is counted, and kept even if the caller disconnects, because the time at which counting stops may
  // reveal something.
  const { rules, spent, price } = await store.writeWhenFree(now, writer => pay(writer, place, member, now))
  const count = (view: ShowView) => tallyOf(state, view, federation, asked, now)
  const tally = isKept ? null : await state.lookInSteps(member, count, time)
  const summary = await store.writeWhenFree(now, writer => {
    const found = summaryAt(writer, place, rules, tally, random)
    forgetBefore(writer, place)
    return found
  })
  return {
    aggregate: aggregateOf(place, topic, rules, summary),
    budget: {
      epsilon_charged: inOnes(price),
      epsilon_left: inOnes(rules.epsilonDay - spent - price),
      epsilon_per_day: inOnes(rules.epsilonDay),
      renews_at: toIso(endOf(place)),
    },
  }
}

/**
 * Vector of the topic's text; null if there is no embedder. Fails if the embedder is temporarily unavailable, because an answer that is
 * kept for a day must not depend on that.
 */
async function vectorOf(state: BeliefsState, text: string, time: TimeLimit): Promise<Float32Array | null> {
  const plain: CheckedText = { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
  const { question } = await embedText(state, plain, time.signal, time)
  if (question === null && state.host.embedder !== null)
    throw new BeliefsError('NODE_UNAVAILABLE', 'the topic could not be embedded; nothing was charged')
  return question
}

/**
 * The stored answer, or a new one made from the true figures and stored. `tally`: the true figures; null if an answer is stored already.
 */
function summaryAt(
  writer: StoreWriter,
  place: Place,
  rules: AggregateRules,
  tally: Tally | null,
  random: (bytes: number) => Uint8Array,
): Summary {
  const kept = keptSummary(writer, place)
  if (kept !== undefined) return kept
  if (tally === null) throw new Error('invariant broken: an answer that was kept went within its epoch')
  const summary = noisedSummary(tally, rules, random)
  const { member_count, belief_count } = summary ?? { member_count: null, belief_count: null }
  writer.table(AGGREGATE_ANSWERS).put({ ...place, member_count, belief_count })
  return summary
}

function aggregateOf({ federation, epoch }: Place, topic: Topic, rules: AggregateRules, summary: Summary): Aggregate {
  const { members, beliefs } = noisesOf(rules)
  return {
    federation_id: federation,
    topic: topic.kind === 'text' ? topic.text : null,
    domain: topic.kind === 'domain' ? topic.domain : null,
    epoch: toIso(epoch * DAY_MS).slice(0, 10),
    summary,
    rules: {
      epsilon: inOnes(rules.epsilonAnswer),
      least_members: rules.leastMembers,
      least_told: barOf(rules),
      member_noise: reachOf(members),
      belief_noise: reachOf(beliefs),
    },
  }
}
