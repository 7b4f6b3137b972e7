/**
 * What affects a watched query of beliefs (BQ-158): which changes of entries may change its answer, by whether they concern its
 * candidates (BQ-043), and when time alone takes a match out of it.
 */
import type { Instant } from '../../../base/clock.ts'
import { cosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Change } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import { type BeliefColumns, domainRates } from '../columns/columns.ts'
import { DAY_MS, freshnessNow } from '../measures/decay.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { NEAR } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import { faded } from '../trust/edge.ts'
import type { DirectTrust } from '../trust/trust-in.ts'

export interface Remembered {
  readonly asOf: Instant
  /** In the feed: later changes are news. */
  readonly position: number
  /** Revisions of what the requester may see, and of its trust. */
  readonly sight: number
  readonly trust: number
  /** Whether an entry was a candidate that passed the filters: a match, or one that another stands for. */
  readonly isCandidate: (entry: EntryKey) => boolean
  /** Lowest cosine with which another would be a candidate; null: there is no bound. */
  readonly meaningFloor: number | null
}

interface World {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly last: Remembered
  readonly now: Instant
  /** The vector of the text; null where there is none, so that words stand in for it, or nothing does. */
  readonly question: Float32Array | null
  /** By the query's model; null: none yet. */
  vectorOf(entry: EntryKey): Float32Array | null
}

/**
 * False is certain: the change is hidden, out of scope, or of a belief that neither was nor is a candidate. What a candidate is worth is not
 * asked: it takes asking again to know.
 */
export function isAffectedBy({ entry, partition, from }: Change, query: CheckedQuery, world: World): boolean {
  const { columns, requester, last, question } = world
  if (!requester.sees(partition) && (from === null || !requester.sees(from))) return false
  if (last.isCandidate(entry) || world.now < last.asOf) return true
  const { semantic, filters, options } = query
  // Shares of words depend on all that is visible, and depths on what a belief rests on.
  if (semantic !== null && question === null) return true
  if (filters.some(({ maxDerivationDepth }) => maxDerivationDepth !== null)) return true
  const row = columns.rowOf(entry)
  if (row === -1) return false
  const source = requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), options.scope)
  if (source === null) return false
  const isByCosine = semantic !== null && semantic.include.length + semantic.phrases.length === 0
  if (question === null || last.meaningFloor === null || !isByCosine) return true
  const vector = world.vectorOf(entry)
  return vector === null || cosine(question, vector) >= last.meaningFloor - NEAR
}

/** Infinite: never. To the millisecond: who wakes up then has not woken up in vain, nor too late. */
export function filtersHoldUntil(evaluation: Evaluation): Instant {
  const parts = evaluation.question.filters.flatMap(({ createdWithinMs, directTrustAbove, confidence }) => [
    ...(createdWithinMs === null ? [] : [recentUntil(evaluation, createdWithinMs)]),
    ...(directTrustAbove === null ? [] : [trustedUntil(evaluation, directTrustAbove)]),
    ...confidence.flatMap(({ of, bound, strict }) =>
      of === 'temporal_freshness' ? [freshUntil(evaluation, bound, strict)] : [],
    ),
  ])
  return Math.min(...parts, Number.POSITIVE_INFINITY)
}

function recentUntil({ matches, view }: Evaluation, within: number): Instant {
  const { created } = view.columns.arrays
  let until = Number.POSITIVE_INFINITY
  for (const row of matches.rows) until = Math.min(until, (created[row] as number) + within + 1)
  return until
}

function trustedUntil({ matches, view: { columns, requester }, trust, asOf }: Evaluation, bound: number): Instant {
  const { holders } = columns.arrays
  const named = new Set<number>()
  for (const row of matches.rows) named.add(holders[row] as number)
  const edges = [
    ...[...named].map(number => trust.of(columns.texts.holder(number)).direct),
    ...requester.federations.map(id => trust.ofFederation(id).direct),
  ]
  let until = Number.POSITIVE_INFINITY
  for (const edge of edges) {
    if (edge === null || edge.value <= bound || edge.rate === 0) continue
    const holds = (at: Instant) => laterValue(edge, asOf, at) > bound
    const guess = asOf + (Math.log(edge.decayed / bound) / edge.rate) * DAY_MS
    until = Math.min(until, firstFailure(holds, asOf, guess, until))
  }
  return until
}

/** What the edge counts later, if it is not used. An edge used in the future stands still until then: too early is allowed. */
function laterValue({ base, rate, days }: DirectTrust, asOf: Instant, at: Instant): number {
  return faded(base, rate, days + (at - asOf) / DAY_MS)
}

function freshUntil({ matches, view, state, question, asOf }: Evaluation, bound: number, strict: boolean): Instant {
  const { columns } = view
  const { confidences, created, domainSets } = columns.arrays
  const rateOf = domainRates(columns, question.context.queryDomains, state.settings.decay)
  let until = Number.POSITIVE_INFINITY
  for (const row of matches.rows) {
    const rate = rateOf(domainSets[row] as number)
    const asserted = confidences[row * DIMENSION_COUNT + FRESHNESS] as number
    const from = created[row] as number
    if (rate === 0 || bound === 0) continue
    const holds = (at: Instant) => {
      const now = freshnessNow(asserted, from, at, rate) ?? Number.NaN
      return strict ? now > bound : now >= bound
    }
    until = Math.min(until, firstFailure(holds, asOf, from + (Math.log(asserted / bound) / rate) * DAY_MS, until))
  }
  return until
}

/** How far a guess of logarithms may lie from where the formula itself turns. */
const SLACK_MS = 2000
/** Later than this nothing is waited for. */
const FOREVER = 8.64e15

/** The first whole millisecond at which what holds now, and once ended has ended for good, no longer does; `known` where it is not before. */
function firstFailure(holds: (at: Instant) => boolean, asOf: Instant, guess: number, known: Instant): Instant {
  if (!(guess - SLACK_MS < known) || guess > FOREVER) return known
  let low = asOf
  let high = Math.max(asOf + 1, Math.ceil(guess) + SLACK_MS)
  while (holds(high)) {
    if (high > FOREVER) return known
    low = high
    high = asOf + 2 * (high - asOf)
  }
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2)
    if (holds(middle)) low = middle
    else high = middle
  }
  return high
}
