/**
 * Answers a member of a federation of this node that asks of a topic: whether it may, what it pays, and what it gets
 * (BQ-105). An epoch is a day in UTC: one answer a topic and one budget a member hold for it, and both begin again
 * together. A member pays once for a topic, whatever comes of it and whoever asked first: so the price tells neither
 * what there is nor who else has asked.
 */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { ShowView } from '../access/show.ts'
import { isElsewhere, memberOf } from '../agents/federations.ts'
import { BeliefsError, unauthorized, wrong } from '../errors.ts'
import { DAY_MS } from '../measures/decay.ts'
import { embedText } from '../query/understand.ts'
import type { CheckedText } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import {
  type AggregateRules,
  barOf,
  inOnes,
  noisedSummary,
  noisesOf,
  reachOf,
  rulesOf,
  type Summary,
  type Tally,
} from './mechanism.ts'
import {
  type Aggregate,
  type AggregateAnswer,
  type AggregateQuestion,
  type AskedTopic,
  type Topic,
  tallyOf,
  topicKey,
} from './tally.ts'

/** One topic of one federation in one epoch. */
interface Place {
  readonly federation: string
  /** Days since 1970. */
  readonly epoch: number
  /** `topicKey`. */
  readonly topic: string
}

function endOf({ epoch }: Place): Instant {
  return (epoch + 1) * DAY_MS
}

/** Undefined: it was not asked for yet. Null: nothing is told of it. */
function keptSummary(reader: StoreReader, place: Place): Summary | undefined {
  const row = reader.table(AGGREGATE_ANSWERS).get({ ...place })
  if (row === undefined) return undefined
  const { member_count: members = null, belief_count: beliefs = null } = row
  return members === null ? null : { member_count: members as number, belief_count: beliefs as number }
}

/** The day before stays: a clock that is set back a little opens no budget again. */
function forgetBefore(writer: StoreWriter, { federation, epoch }: Place): void {
  for (const declaration of [AGGREGATE_ANSWERS, AGGREGATE_CHARGES]) {
    const table = writer.table(declaration)
    for (;;) {
      // The oldest comes first: by federation, then epoch.
      const oldest = table.scan({ federation }, { columns: ['epoch'], limit: 1 })[0]?.['epoch'] as number | undefined
      if (oldest === undefined || oldest >= epoch - 1) break
      table.delete({ federation, epoch: oldest })
    }
  }
}

/** What a member pays, and what it has paid, in thousandths of ε. */
interface Account {
  readonly rules: AggregateRules
  /** Of this epoch. */
  readonly spent: number
  /** Of this topic: 0 where it is paid. */
  readonly price: number
}

/** Throws UNAUTHORIZED as `rulesFor`, and RATE_LIMITED where the topic is new to the member and its budget does not reach. */
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

/** The refusal is the same whatever there is to be told of the topic. */
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

/** Throws UNAUTHORIZED for those who are no active members with leave to see aggregates, whatever the federation is. */
function rulesFor(reader: StoreReader, federation: string, member: string): AggregateRules {
  const row = reader.table(MEMBERSHIPS).get({ federation, agent: member })
  const membership = row && memberOf(row)
  if (membership?.status !== 'active') throw unauthorized()
  if (membership.permissions !== null && !membership.permissions.includes('view_aggregates')) throw unauthorized()
  const rules = rulesOf(reader, federation)
  if (rules !== null) return rules
  if (isElsewhere(reader, federation))
    throw wrong(
      'federation',
      'a federation of this node: this one gives figures on its own node alone',
      'elsewhere',
      null,
    )
  const constraint = 'a federation whose results are aggregates: the beliefs of this one are there to be asked for'
  throw wrong('federation', constraint, 'individual', null)
}

/** Milliseconds, as of a question that names no limit. */
const MAX_MS = 5_000

/**
 * Throws UNAUTHORIZED, alike for a federation that there is not, RATE_LIMITED where the budget is spent, before the beliefs are
 * looked at, and NODE_UNAVAILABLE where the text could not be embedded, for which nothing is paid.
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
  // Before anything is counted, also by a caller who then goes: how far counting came may tell something.
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

/** What is kept for a day must not depend on whether the embedder was there at one moment of it. */
async function vectorOf(state: BeliefsState, text: string, time: TimeLimit): Promise<Float32Array | null> {
  const plain: CheckedText = { text, base: text, include: [], exclude: [], phrases: [], boosts: [] }
  const { question } = await embedText(state, plain, time.signal, time)
  if (question === null && state.host.embedder !== null)
    throw new BeliefsError('NODE_UNAVAILABLE', 'the topic could not be embedded; nothing was charged')
  return question
}

/** `tally` null: it is kept. */
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
