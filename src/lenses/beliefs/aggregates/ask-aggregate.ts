/** Answers a member of a federation of this node that asks of a topic: whether it may, what it pays, and what it is told (BQ-105). */

import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { type AggregateRules, inOnes, rulesOf } from '../agents/aggregate-rules.ts'
import { isElsewhere, memberOf, wrong } from '../agents/federations.ts'
import { BeliefsError, unauthorized } from '../errors.ts'
import { embedText } from '../query/understand.ts'
import type { CheckedText } from '../schema/text.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import {
  epochAt,
  epochEnd,
  epochName,
  forgetBefore,
  keepSummary,
  keptSummary,
  mayPay,
  type Place,
  pay,
  spentBy,
} from './ledger.ts'
import { barOf, noisedSummary, noisesOf, reachOf, type Summary, type Tally } from './mechanism.ts'
import { type Aggregate, type AggregateAnswer, type AggregateQuestion, type Topic, topicKey } from './question.ts'
import { type AskedTopic, tallyOf } from './tally.ts'

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
const MOST_MS = 5_000

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
  const { host } = state
  const { store } = host
  const now = host.clock.now()
  const place: Place = { federation, epoch: epochAt(now), topic: topicKey(topic) }
  const isKept = store.read(reader => {
    mayPay(reader, place, member, rulesFor(reader, federation, member), now)
    return keptSummary(reader, place) !== undefined
  })
  const payAlone = async () => {
    await store.writeWhenFree(now, writer => pay(writer, place, member, rulesFor(writer, federation, member), now))
  }
  const tally = isKept ? null : await counted(state, member, { federation, topic }, { now, signal, payAlone })
  // What is told and what is paid for it are there together, or neither is: nobody gets an answer that was not paid for.
  return store.writeWhenFree(now, writer => {
    const rules = rulesFor(writer, federation, member)
    const epsilon_charged = pay(writer, place, member, rules, now)
    const summary = summaryAt(writer, place, rules, tally, bytes => host.random(bytes))
    forgetBefore(writer, place)
    return {
      aggregate: aggregateOf(place, topic, rules, summary),
      budget: {
        epsilon_charged: inOnes(epsilon_charged),
        epsilon_left: inOnes(rules.epsilonDay - spentBy(writer, place, member)),
        epsilon_per_day: inOnes(rules.epsilonDay),
        renews_at: toIso(epochEnd(place.epoch)),
      },
    }
  })
}

interface Counting {
  readonly now: Instant
  readonly signal: AbortSignal
  payAlone(): Promise<void>
}

/** Where counting fails, as by a caller who has gone, it is paid for all the same: how far it came may tell something. */
async function counted(
  state: BeliefsState,
  member: string,
  { federation, topic }: AggregateQuestion,
  { now, signal, payAlone }: Counting,
): Promise<Tally> {
  const time = new TimeLimit(MOST_MS, signal)
  await state.load(signal)
  const asked: AskedTopic = { topic, vector: topic.kind === 'text' ? await vectorOf(state, topic.text, time) : null }
  try {
    return await state.lookInSteps(member, view => tallyOf(state, view, federation, asked, now), time)
  } catch (thrown) {
    await payAlone()
    throw thrown
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
  keepSummary(writer, place, summary)
  return summary
}

function aggregateOf({ federation, epoch }: Place, topic: Topic, rules: AggregateRules, summary: Summary): Aggregate {
  const { members, beliefs } = noisesOf(rules)
  return {
    federation_id: federation,
    topic: topic.kind === 'text' ? topic.text : null,
    domain: topic.kind === 'domain' ? topic.domain : null,
    epoch: epochName(epoch),
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
