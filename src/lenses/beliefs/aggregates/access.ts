/** Who may ask for the aggregates of a federation (BQ-105). */
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { memberOf, wrong } from '../agents/federations.ts'
import { unauthorized } from '../errors.ts'
import { type AggregateRules, rulesOf } from './rules.ts'

/** Throws UNAUTHORIZED for those who are no active members with leave to see aggregates. */
export function rulesFor(reader: StoreReader, federation: string, member: string): AggregateRules {
  mustBeMember(reader, federation, member)
  const rules = rulesOf(reader, federation)
  if (rules === null) throw notAggregate()
  return rules
}

export function mustBeMember(reader: StoreReader, federation: string, member: string): void {
  const row = reader.table(MEMBERSHIPS).get({ federation, agent: member })
  const membership = row && memberOf(row)
  if (membership?.status !== 'active') throw unauthorized()
  if (membership.permissions !== null && !membership.permissions.includes('view_aggregates')) throw unauthorized()
}

/** To a member alone: it can look its beliefs up. */
export function notAggregate(): Error {
  const constraint = 'a federation whose results are aggregates: the beliefs of this one are there to be asked for'
  return wrong('federation', constraint, 'individual', null)
}
