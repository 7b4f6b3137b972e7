/** Whether one change of one entry may change an answer for who asks (BQ-158): from what is kept in memory, in microseconds. */
import type { Instant } from '../../../base/clock.ts'
import { cosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Change } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import { SOURCE_NUMBERS } from '../access/source-numbers.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import { rowTests } from '../matching/filter.ts'
import { validInstants } from '../matching/in-scope.ts'
import { confidenceByColumn, overallOf, weightColumn } from '../measures/confidence.ts'
import { decayRate, recency } from '../measures/decay.ts'
import type { BeliefSource } from '../model.ts'
import { NEAR } from '../ranking/best.ts'
import { finalOf, semanticOf } from '../ranking/scored.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import type { HolderTrust } from '../trust/holders.ts'
import { floorAt, hasTwin, type Remembered } from './remembered.ts'

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
    this.#dependsOnOthers = settles || hasDepth || query.options.diversity.enabled
  }

  /** `question`: its vector; null where there is none, so that words stand in for it, or nothing does. */
  touches(change: Touching, question: Float32Array | null, world: JudgeWorld): boolean {
    const { state, requester, last } = world
    const { partition, from, entry } = change
    if (!requester.sees(partition) && (from === null || !requester.sees(from))) return false
    if (last.entries.has(entry) || last.copies?.has(entry) === true) return true
    const byWords = this.#query.semantic !== null && question === null
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
    if (!last.isFull || hasTwin(state.columns, requester, row)) return true
    const worth = this.#worthAtMost(row, source, question, world)
    return worth >= floorAt(last, this.#query.weights, world.now) - NEAR
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
  #worthAtMost(row: number, source: BeliefSource, question: Float32Array | null, world: JudgeWorld): number {
    const { state, last, requester, trust } = world
    const { columns, settings } = state
    const { confidences, created } = columns.arrays
    const holder = columns.holderOf(row)
    const at = row * DIMENSION_COUNT
    const isStrict = source.id !== null && requester.isStrict(source.id) && holder !== requester.id
    const rate = decayRate(columns.domainsOf(row), this.#query.context.queryDomains, settings.decay)
    const parts = {
      semantic:
        question === null
          ? null
          : semanticOf(likeness(question, world.vectorOf(columns.arrays.entries[row] as EntryKey))),
      confidence: this.#confidence(confidences, at),
      // Where young agents are capped, time can raise trust.
      trust: settings.newAgentCap ? 1 : (isStrict ? trust.ofFederation(source.id as string) : trust.of(holder)).value,
      recency: recency(confidences[at + FRESHNESS] as number, created[row] as number, last.asOf, rate),
    }
    return finalOf(parts, this.#query.weights)
  }
}

const NO_HOLDERS = { holderIds: null, excludeHolders: new Set<string>() }

/** What has no vector yet counts as 0. */
function likeness(question: Float32Array, vector: Float32Array | null): number {
  return vector === null ? 0 : cosine(question, vector)
}
