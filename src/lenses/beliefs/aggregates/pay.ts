/** What a member pays for an answer, and what it is told when it cannot (BQ-105). */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { BeliefsError } from '../errors.ts'
import { DAY_MS } from '../measures/decay.ts'
import { epochEnd } from './epoch.ts'
import { charge, hasPaid, type Place, spentBy } from './ledger.ts'
import { type AggregateRules, inOnes } from './rules.ts'

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
export function spentUntil(renews: Instant, epsilonPerDay: number, now: Instant): BeliefsError {
  const renews_at = toIso(renews)
  return new BeliefsError('RATE_LIMITED', `the privacy budget of the day is spent: it renews at ${renews_at}`, {
    reason: 'privacy_budget',
    renews_at,
    retry_after_ms: Math.max(0, renews - now),
    limit: epsilonPerDay,
    window_ms: DAY_MS,
  })
}
