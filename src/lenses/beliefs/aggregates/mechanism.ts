/**
 * Computes the published figures on a topic, which take the place of the true ones (BQ-105).
 *
 * The figures are the number of members who hold beliefs on the topic, and the number of these beliefs, of which at most three per member
 * count. So one member can change the first figure by at most 1 and the second by at most 3. Each figure gets discrete Laplace noise for
 * its share of ε: with the parameter 3/5 · ε / 1 for the members, and 2/5 · ε / 3 for the beliefs. The noised number of members decides
 * whether anything is published, and the published figures are made from the two noised ones. Neither step reads the true figures again, so
 * neither uses more of ε.
 *
 * Guarantee: an answer is ε-differentially private (δ = 0) for each single member of the federation, against everybody who receives it. For
 * any two states of the store that differ in the beliefs of one member, and for any set of answers, "nothing published" included, P(answer
 * in set) ≤ e^ε · P'(answer in set). A topic has one answer per epoch (a day), the same for all, so repeated queries reveal nothing. A
 * member who receives n topics in an epoch learns what n · ε allows, at most the daily budget.
 *
 * Limits:
 * - The minimum number of members, k, applies to the noised number: a threshold on the true number would reveal, in a federation of k,
 * whether each single member is in it. The threshold is higher than k, so that a topic of k - 1 members is published in at most one answer
 * of a hundred, and a smaller topic less often. Its figures are noised like all others.
 * - Budgets add up: over epochs, over federations that one member shares with, and over members who combine what each of them received.
 * Several names of one person are several members here.
 * - The holder of the store and the operators of the federation see the beliefs and the members anyway.
 * - The time of an answer is not protected.
 */
import { discreteLaplace, discreteLaplaceTail, type RandomBytes, type Ratio } from '../../../math/discrete-laplace.ts'
import { FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { AGGREGATE_RULES } from '../tables.ts'

/** The value 1 of ε in the unit in which ε is counted: integer thousandths, so that sums are exact. */
const ONE_EPSILON = 1000

/**
 * Rules by which a federation publishes aggregate figures instead of single beliefs (BQ-105): those set at its creation, or the defaults.
 */
export interface AggregateRules {
  /** Minimum number of members with beliefs on a topic (k) for figures on the topic to be published. */
  readonly leastMembers: number
  /**
   * Privacy budget in thousandths of ε: for one answer (`epsilonAnswer`), and for all answers to one member in one epoch, which is a day
   * (`epsilonDay`).
   */
  readonly epsilonAnswer: number
  readonly epsilonDay: number
}

/** Rules that can be given when a federation is created; absent values have their defaults. */
interface GivenRules {
  readonly sensitive?: boolean | undefined
  /** Privacy budgets as the request gives them: in units of ε, not in thousandths. */
  readonly query_epsilon?: number | undefined
  readonly daily_epsilon?: number | undefined
}

const MIN_MEMBERS = 5
const MIN_MEMBERS_SENSITIVE = 10
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

/** Rules by which a federation publishes aggregates; null: the federation lets members query single beliefs, or does not exist here. */
export function rulesOf(reader: StoreReader, federation: string): AggregateRules | null {
  if (!isAggregate(reader, federation)) return null
  const row = reader.table(AGGREGATE_RULES).get({ federation })
  return {
    leastMembers: row?.['sensitive'] === 1 ? MIN_MEMBERS_SENSITIVE : MIN_MEMBERS,
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

/**
 * The true figures of a topic, before noise: number of members with beliefs on it, and number of these beliefs. At most `MAX_BELIEFS`
 * beliefs of each member count.
 */
export interface Tally {
  readonly members: number
  readonly beliefs: number
}

/** The published figures on a topic, with noise; null: nothing is published about the topic. */
export type Summary = { readonly member_count: number; readonly belief_count: number } | null

/** Maximum number of beliefs of one holder that count for a topic. */
export const MAX_BELIEFS = 3

/** Shares of an answer's ε, in fifths: for the noise on the number of members, and for the noise on the number of beliefs. */
const FOR_MEMBERS = 3
const FOR_BELIEFS = 2
const FIFTHS = 5

/** Maximum probability that a topic with k - 1 members, one fewer than required, is published because of the noise. */
const PUBLISHED_BELOW = 0.01

/**
 * Parameters of the discrete Laplace noise for the two figures (members, beliefs): the share of ε that is used for each unit by which one
 * member can change the figure.
 */
interface Noises {
  readonly members: Ratio
  readonly beliefs: Ratio
}

export function noisesOf({ epsilonAnswer }: Pick<AggregateRules, 'epsilonAnswer'>): Noises {
  return {
    members: reduced(FOR_MEMBERS * epsilonAnswer, FIFTHS * ONE_EPSILON),
    beliefs: reduced(FOR_BELIEFS * epsilonAnswer, FIFTHS * ONE_EPSILON * MAX_BELIEFS),
  }
}

export function noisedSummary(tally: Tally, rules: AggregateRules, random: RandomBytes): Summary {
  const { members, beliefs } = noisesOf(rules)
  // Noise for both figures is drawn even if nothing is published, so that the amount of randomness used does not depend on the outcome.
  const noised = {
    members: tally.members + discreteLaplace(members, random),
    beliefs: tally.beliefs + discreteLaplace(beliefs, random),
  }
  return published(noised, barOf(rules))
}

/**
 * Makes the published figures from noised figures alone. The number of beliefs is brought into the possible range: every member has at
 * least one belief, and at most three of a member count. `bar`: minimum noised number of members for anything to be published.
 */
export function published({ members, beliefs }: Tally, bar: number): Summary {
  if (members < bar) return null
  const belief_count = Math.min(MAX_BELIEFS * members, Math.max(members, beliefs))
  return { member_count: members, belief_count }
}

/** Minimum noised number of members for a topic to be published: k plus a margin for the noise. */
export function barOf(rules: AggregateRules): number {
  const { members } = noisesOf(rules)
  let above = 1
  while (discreteLaplaceTail(members, above) > PUBLISHED_BELOW) above++
  return rules.leastMembers - 1 + above
}

/** Largest distance of the noise from zero in 95 of 100 draws, as given with an answer to show its precision. */
export function reachOf(noise: Ratio): number {
  let reach = 0
  while (2 * discreteLaplaceTail(noise, reach + 1) > 0.05) reach++
  return reach
}

function reduced(numerator: number, denominator: number): Ratio {
  let [a, b] = [numerator, denominator]
  while (b !== 0) [a, b] = [b, a % b]
  return { numerator: numerator / a, denominator: denominator / a }
}
