/**
 * What was told of which topic in an epoch, and what each member has paid for it (BQ-105). An epoch is a day in UTC: one answer a
 * topic and one budget a member hold for it, and both begin anew together. A member pays once for a topic, whatever comes of it
 * and whoever asked first: so the price tells neither what there is nor who else has asked.
 */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { type AggregateRules, inOnes } from '../agents/aggregate-rules.ts'
import { BeliefsError } from '../errors.ts'
import { DAY_MS } from '../measures/decay.ts'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../tables.ts'
import type { Summary } from './mechanism.ts'

/** Days since 1970. */
type Epoch = number

export function epochAt(now: Instant): Epoch {
  return Math.floor(now / DAY_MS)
}

/** When the next one begins. */
export function epochEnd(epoch: Epoch): Instant {
  return (epoch + 1) * DAY_MS
}

/** `2026-03-01`. */
export function epochName(epoch: Epoch): string {
  return toIso(epoch * DAY_MS).slice(0, 10)
}

/** One topic of one federation in one epoch. */
export interface Place {
  readonly federation: string
  readonly epoch: Epoch
  /** `topicKey`. */
  readonly topic: string
}

/** Undefined: it was not asked for yet. Null: nothing is told of it. */
export function keptSummary(reader: StoreReader, place: Place): Summary | undefined {
  const row = reader.table(AGGREGATE_ANSWERS).get({ ...place })
  if (row === undefined) return undefined
  const { member_count: members = null, belief_count: beliefs = null } = row
  if (members === null || beliefs === null) return null
  return { member_count: members as number, belief_count: beliefs as number }
}

export function keepSummary(writer: StoreWriter, place: Place, summary: Summary): void {
  const { member_count, belief_count } = summary ?? { member_count: null, belief_count: null }
  writer.table(AGGREGATE_ANSWERS).put({ ...place, member_count, belief_count })
}

function hasPaid(reader: StoreReader, place: Place, member: string): boolean {
  return reader.table(AGGREGATE_CHARGES).get({ ...place, member }) !== undefined
}

/** In thousandths of ε. */
export function spentBy(reader: StoreReader, { federation, epoch }: Omit<Place, 'topic'>, member: string): number {
  const rows = reader.table(AGGREGATE_CHARGES).scan({ federation, epoch, member }, { columns: ['epsilon'] })
  return rows.reduce((sum, row) => sum + (row['epsilon'] as number), 0)
}

function charge(writer: StoreWriter, place: Place, member: string, epsilon: number): void {
  writer.table(AGGREGATE_CHARGES).put({ ...place, member, epsilon })
}

/** The day before stays: a clock that is set back a little opens no budget anew. */
export function forgetBefore(writer: StoreWriter, { federation, epoch }: Omit<Place, 'topic'>): void {
  for (const declaration of [AGGREGATE_ANSWERS, AGGREGATE_CHARGES]) {
    const table = writer.table(declaration)
    for (;;) {
      // The oldest comes first: by federation, then epoch.
      const oldest = table.scan({ federation }, { columns: ['epoch'], limit: 1 })[0]?.['epoch'] as Epoch | undefined
      if (oldest === undefined || oldest >= epoch - 1) break
      table.delete({ federation, epoch: oldest })
    }
  }
}

/** Throws RATE_LIMITED where the topic is new to the member and its budget does not reach. */
export function mayPay(reader: StoreReader, place: Place, member: string, rules: AggregateRules, now: Instant): void {
  if (hasPaid(reader, place, member)) return
  if (spentBy(reader, place, member) + rules.epsilonAnswer > rules.epsilonDay)
    throw spentUntil(epochEnd(place.epoch), inOnes(rules.epsilonDay), now)
}

/** In thousandths; 0 where it has paid before. */
export function pay(writer: StoreWriter, place: Place, member: string, rules: AggregateRules, now: Instant): number {
  if (hasPaid(writer, place, member)) return 0
  mayPay(writer, place, member, rules, now)
  charge(writer, place, member, rules.epsilonAnswer)
  return rules.epsilonAnswer
}

/** The refusal where a budget does not reach: it is the same whatever there is to be told of the topic. */
function spentUntil(renews: Instant, epsilonPerDay: number, now: Instant): BeliefsError {
  const renews_at = toIso(renews)
  return new BeliefsError('RATE_LIMITED', `the privacy budget of the day is spent: it renews at ${renews_at}`, {
    reason: 'privacy_budget',
    renews_at,
    retry_after_ms: Math.max(0, renews - now),
    limit: epsilonPerDay,
    window_ms: DAY_MS,
  })
}
