/** How a federation whose results are aggregates tells of itself (BQ-105): as it was founded, or by default. */
import { FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { AGGREGATE_RULES } from '../tables.ts'

/** ε is counted in thousandths: whole numbers add up exactly. */
export const ONE_EPSILON = 1000

export interface AggregateRules {
  /** Members that must hold something of a topic before it is told of. */
  readonly leastMembers: number
  /** In thousandths: of each answer, and of all answers to one member in one epoch. */
  readonly epsilonAnswer: number
  readonly epsilonDay: number
}

/** What is asked for when a federation is founded; absent: the default. */
export interface GivenRules {
  readonly sensitive?: boolean | undefined
  /** In ones. */
  readonly query_epsilon?: number | undefined
  readonly daily_epsilon?: number | undefined
}

const LEAST_MEMBERS = 5
const LEAST_MEMBERS_SENSITIVE = 10
export const DEFAULT_ANSWER = 1 * ONE_EPSILON
export const DEFAULT_DAY = 10 * ONE_EPSILON

export function keepRules(writer: StoreWriter, federation: string, given: GivenRules): void {
  const { sensitive = false, query_epsilon: answer, daily_epsilon: day } = given
  if (!sensitive && answer === undefined && day === undefined) return
  writer.table(AGGREGATE_RULES).put({
    federation,
    sensitive: sensitive ? 1 : 0,
    epsilon_answer: answer === undefined ? null : thousandths(answer),
    epsilon_day: day === undefined ? null : thousandths(day),
  })
}

/** Null: its results are not aggregates, or it is not known here. */
export function rulesOf(reader: StoreReader, federation: string): AggregateRules | null {
  if (!isAggregate(reader, federation)) return null
  const row = reader.table(AGGREGATE_RULES).get({ federation })
  return {
    leastMembers: row?.['sensitive'] === 1 ? LEAST_MEMBERS_SENSITIVE : LEAST_MEMBERS,
    epsilonAnswer: (row?.['epsilon_answer'] as number | null | undefined) ?? DEFAULT_ANSWER,
    epsilonDay: (row?.['epsilon_day'] as number | null | undefined) ?? DEFAULT_DAY,
  }
}

export function isAggregate(reader: StoreReader, federation: string): boolean {
  return reader.table(FEDERATIONS).get({ id: federation })?.['results'] === 'aggregate'
}

export function thousandths(epsilon: number): number {
  return Math.round(epsilon * ONE_EPSILON)
}

export function inOnes(epsilon: number): number {
  return epsilon / ONE_EPSILON
}
