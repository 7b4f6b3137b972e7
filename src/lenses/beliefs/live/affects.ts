/**
 * What affects a watched query of beliefs: whether one change of one entry may change its answer (BQ-158), from what is kept in
 * memory of the last answer, in microseconds; and when time alone takes a match out of it.
 */
import type { Instant } from '../../../base/clock.ts'
import { cosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Change } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { trustedThrough } from '../access/row-origins.ts'
import { SOURCE_NUMBERS } from '../access/source-numbers.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { domainRates } from '../columns/domain-rates.ts'
import { rowTests } from '../matching/filter.ts'
import { validInstants } from '../matching/in-scope.ts'
import { confidenceByColumn, overallOf, weightColumn } from '../measures/confidence.ts'
import { DAY_MS, decayRate, freshnessNow, recency } from '../measures/decay.ts'
import type { BeliefSource } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { finalOf, NEAR, type Picked, semanticOf } from '../ranking/scored.ts'
import { trustFound } from '../ranking/trust-found.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { faded } from '../trust/fading.ts'
import type { HolderTrust } from '../trust/holders.ts'
import { type DirectTrust, LEAST_OF_MEMBER } from '../trust/trust-in.ts'

interface JudgeWorld {
  readonly state: BeliefsState
  readonly requester: Requester
  readonly last: Remembered
  readonly now: Instant
  /** Trust in holders, or more. */
  readonly trust: HolderTrust
  /** By the question's model; null: none yet. */
  vectorOf(entry: EntryKey): Float32Array | null
}

/** A belief that came, went or moved, or whose holder counts otherwise. */
type Touching = Pick<Change, 'entry' | 'partition' | 'from'>

/** One question's. Says no only where it is certain. */
export class Judge {
  readonly #query: CheckedQuery
  /** Parts of a filter that depend on more than the belief itself are taken as met. */
  readonly #filters: readonly CheckedFilters[]
  readonly #weightColumn: Float64Array
  readonly #confidence: (values: ArrayLike<number>, at: number) => number
  /** What one belief is worth depends on others: any visible change counts. */
  readonly #dependsOnOthers: boolean

  /** `settles`: whether results that contradict each other put each other out of place. */
  constructor(query: CheckedQuery, settles = false) {
    this.#query = query
    const { confidenceWeights } = query.context
    this.#filters = query.filters.map(part => ({
      ...part,
      minHolderReputation: null,
      directTrustAbove: null,
      maxDerivationDepth: null,
    }))
    this.#weightColumn = weightColumn(confidenceWeights)
    this.#confidence = confidenceByColumn(confidenceWeights)
    const hasDepth = query.filters.some(({ maxDerivationDepth }) => maxDerivationDepth !== null)
    const { diversity, mergeStrategy } = query.options
    this.#dependsOnOthers = settles || hasDepth || diversity.enabled || mergeStrategy !== 'rerank'
  }

  /** `question`: its vector; null where there is none, so that words stand in for it, or nothing does. */
  touches(change: Touching, question: Float32Array | null, world: JudgeWorld): boolean {
    const { state, requester, last } = world
    const { partition, from, entry } = change
    if (!requester.sees(partition) && (from === null || !requester.sees(from))) return false
    if (last.entries.has(entry) || last.copies?.has(entry) === true) return true
    // More or fewer candidates than may take part, or a text without a vector: any may make room for another.
    const byWords = last.isCut || (this.#query.semantic !== null && question === null)
    const { columns } = state
    const row = columns.rowOf(entry)
    const isGone = row === -1 || !requester.sees(columns.arrays.partitions[row] as number)
    if (isGone) return this.#dependsOnOthers || byWords || last.copies === null
    if (this.#dependsOnOthers || byWords || world.now < last.asOf) return true
    const source = requester.sourceOf(
      columns.arrays.partitions[row] as number,
      columns.holderOf(row),
      this.#query.options.scope,
    )
    if (source === null) return false
    const when = this.#holds(row, world)
    if (when !== 'now') return when === 'later'
    if (!this.#meetsFilters(row, source, world)) return false
    const vector = question === null ? null : world.vectorOf(entry)
    if (this.#isTooFar(question, vector, world)) return false
    if (!last.isFull || hasTwin(state.columns, requester, row)) return true
    const worth = this.#worthAtMost(row, source, question === null ? null : likeness(question, vector), world)
    return worth >= floorAt(last, this.#query.weights, world.now) - NEAR
  }

  /** Whether it is no candidate, whatever it is worth. */
  #isTooFar(question: Float32Array | null, vector: Float32Array | null, { last }: JudgeWorld): boolean {
    const { semantic } = this.#query
    if (question === null || vector === null || last.meaningFloor === null) return false
    if (semantic === null || semantic.include.length + semantic.phrases.length > 0) return false
    return cosine(question, vector) < last.meaningFloor - NEAR
  }

  #holds(row: number, { state, now }: JudgeWorld): 'now' | 'later' | 'never' {
    const { created, validFrom, validUntil } = state.columns.arrays
    const made = created[row] as number
    const begin = validFrom[row] as number
    const end = validUntil[row] as number
    const isGiven = this.#query.filters.some(({ validAt }) => validAt !== null)
    if (isGiven) {
      const instants = validInstants(this.#query.filters, now)
      if (begin > Math.min(...instants) || end <= Math.max(...instants)) return 'never'
      return made > now ? 'later' : 'now'
    }
    if (end <= now) return 'never'
    return Math.max(made, begin) > now ? 'later' : 'now'
  }

  #meetsFilters(row: number, source: BeliefSource, { state, now }: JudgeWorld): boolean {
    if (this.#filters.length === 0) return true
    const { columns } = state
    const { queryDomains } = this.#query.context
    // Who a holder is shown as through a federation is not worth the work: let it pass.
    const isShown = source.kind !== 'federated'
    const filters = isShown ? this.#filters : this.#filters.map(part => ({ ...part, ...NO_HOLDERS }))
    const tests = rowTests(filters, {
      columns,
      asOf: now,
      queryDomains,
      overall: of => overallOf(columns.arrays.confidences, of * DIMENSION_COUNT, this.#weightColumn),
      decay: state.settings.decay,
      holderShown: () => columns.holderOf(row),
      reputation: () => 1,
      direct: () => 1,
      depth: () => 0,
    })
    return tests.every(test => test(row, SOURCE_NUMBERS[source.kind]))
  }

  /** As of the last answer: later it is the same or less. */
  #worthAtMost(row: number, source: BeliefSource, meaning: number | null, world: JudgeWorld): number {
    const { state, last, requester, trust } = world
    const { columns, settings } = state
    const { confidences, created } = columns.arrays
    const holder = columns.holderOf(row)
    const at = row * DIMENSION_COUNT
    const as = trustedThrough(requester, source, holder)
    const rate = decayRate(columns.domainsOf(row), this.#query.context.queryDomains, settings.decay)
    const parts = {
      semantic: meaning === null ? null : semanticOf(meaning),
      confidence: this.#confidence(confidences, at),
      // Where young agents are capped, time can raise trust.
      trust: settings.newAgentCap ? 1 : (as === null ? trust.of(holder) : trust.as(as)).value,
      recency: recency(confidences[at + FRESHNESS] as number, created[row] as number, last.asOf, rate),
    }
    return finalOf(parts, this.#query.weights)
  }
}

const NO_HOLDERS = { holderIds: null, excludeHolders: new Set<string>() }

/** What has no vector yet is compared by its words: that may be near. */
function likeness(question: Float32Array, vector: Float32Array | null): number {
  return vector === null ? 1 : cosine(question, vector)
}

export interface Remembered {
  readonly asOf: Instant
  /** In the feed: later changes are news. */
  readonly position: number
  readonly sight: number
  readonly trust: number
  /** Of all that was picked. */
  readonly entries: ReadonlySet<EntryKey>
  /** Matches without which another may come up that they kept out, although they are not picked; null: too many to name. */
  readonly copies: ReadonlySet<EntryKey> | null
  /** Whether more were near enough to the text than may be candidates. */
  readonly isCut: boolean
  /** Lowest cosine of a candidate; null: there is no bound. */
  readonly meaningFloor: number | null
  /** Whether as many were picked as were wanted: then a newcomer must beat the last. */
  readonly isFull: boolean
  /** The least that was picked, and the least that it can be later, but for what time takes evenly. */
  readonly floor: number
  readonly laterFloor: number
  /** A day: the fastest that any of them ages. */
  readonly ageing: number
  /** Until then time does no more to trust than let it fade. */
  readonly trustHoldsUntil: Instant
}

/** How much of one's own trust fades a day, at most (BQ-070). */
const FADING = 0.001

/** What scores of the picked can be made of. */
export function scoresOf(
  evaluation: Evaluation,
  picked: readonly Picked[],
): Pick<Remembered, 'floor' | 'laterFloor' | 'ageing' | 'trustHoldsUntil'> {
  const { scorer, state } = evaluation
  const { weights } = evaluation.question
  const { newAgentCap, sybilCap } = state.settings
  let floor = Number.POSITIVE_INFINITY
  let laterFloor = Number.POSITIVE_INFINITY
  let ageing = 0
  for (const { scored } of picked) {
    const { trust, of, isShared } = trustFound(evaluation, scored)
    const { kind, value } = trust
    // A route that fades below what counts as a source may bring what rests on it under the cap; a member counts by bands.
    const least = isShared && of === 'holder' ? LEAST_OF_MEMBER : kind === 'transitive' ? sybilCap : value
    const atRisk = newAgentCap ? value : Math.max(0, value - least)
    floor = Math.min(floor, scored.final)
    laterFloor = Math.min(laterFloor, scored.final - weights.trust * atRisk)
    ageing = Math.max(ageing, scorer.rate(scored.row))
  }
  return { floor, laterFloor, ageing, trustHoldsUntil: evaluation.trust.holdsUntil }
}

const MOST_COPIES = 2000

/**
 * Of copies one stands for the others: the first, or the requester's own, however low it stands. What was left out may
 * have kept out others with its id.
 */
export function copiesOf({ matches, copies, view }: Evaluation): ReadonlySet<EntryKey> | null {
  const { columns, requester } = view
  const { entries } = columns.arrays
  const found = new Set(Array.from(copies, row => entries[row] as EntryKey))
  const { rows } = matches
  for (let place = 0; place < rows.length; place++) {
    const row = rows[place] as number
    if (columns.holderOf(row) === requester.id && hasTwin(columns, requester, row)) found.add(entries[row] as EntryKey)
  }
  return found.size > MOST_COPIES ? null : found
}

/** Whether another visible belief has the row's id or its content. */
export function hasTwin(columns: BeliefColumns, requester: Requester, row: number): boolean {
  const { ids, partitions } = columns.arrays
  const isSeen = (other: number) => other !== row && requester.sees(partitions[other] as number)
  for (let other = columns.firstOfId(ids[row] as number); other !== -1; other = columns.nextOfId(other)) {
    if (isSeen(other)) return true
  }
  for (let other = columns.firstCopy(row); other !== -1; other = columns.nextCopy(other)) {
    if (isSeen(other)) return true
  }
  return false
}

/** Less than this no place of the last answer can be worth by now. */
export function floorAt(
  { asOf, floor, laterFloor, ageing, trustHoldsUntil }: Remembered,
  weights: { readonly trust: number; readonly recency: number },
  now: Instant,
): number {
  if (now <= asOf) return floor
  const days = (now - asOf) / DAY_MS
  const trust = now < trustHoldsUntil ? 1 - Math.exp(-FADING * days) : 1
  return laterFloor - weights.trust * trust - weights.recency * (1 - Math.exp(-ageing * days))
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
