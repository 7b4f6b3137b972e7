/**
 * Counts the values that the matches of a query have in certain fields (BQ-171). For beliefs that come through federations, a value is
 * reported only if at least five holders have it (BQ-103); otherwise these beliefs are counted under `other_count`.
 */
import { compareText } from '../../../base/compare.ts'
import { nextTurn } from '../../../base/turns.ts'
import { modelKey } from '../../../embed/embedder.ts'
import { QuerentError } from '../../../model/errors.ts'
import { FEDERATED } from '../access/show.ts'
import { DIMENSION_COUNT } from '../columns/column-arrays.ts'
import type { BeliefsError } from '../errors.ts'
import { overallOf, weightColumn } from '../measures/confidence.ts'
import { DERIVATION_TYPES, type QueryResult, VISIBILITIES } from '../model.ts'
import { asked, type Call, type Evaluation } from '../query/evaluation.ts'
import { type CalibrationResult, calibrate, SHIPPED, thresholdsOf } from '../query/understand.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type {
  batchAnswer,
  CheckedFacets,
  countAnswer,
  diagnosticsAnswer,
  FacetField,
  facetsAnswer,
} from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, countersOf } from '../state.ts'

/** Number of matches of a query (BQ-170), regardless of its limit and offset; several copies of one belief count once. */
export function countMatches(state: BeliefsState, query: CheckedQuery, call: Call): Promise<Value<typeof countAnswer>> {
  return asked(state, query, call, ({ matches, isCut }, warnings) => ({
    total: matches.count,
    exact: !isCut,
    by_scope: { ...matches.counts() },
    warnings,
  }))
}

const MAX_VALUES = 50
/** Minimum number of holders whose federated beliefs have a value; with fewer, reporting the value could point to individual members. */
const MIN_HOLDERS = 5

export function countFacets(
  state: BeliefsState,
  { query, fields }: CheckedFacets,
  call: Call,
): Promise<Value<typeof facetsAnswer>> {
  return asked(state, query, call, (evaluation, warnings) => ({
    total: evaluation.matches.count,
    facets: Object.fromEntries(fields.map(field => [field, facetOf(evaluation, field)])),
    warnings,
  }))
}

function facetOf(evaluation: Evaluation, field: FacetField) {
  const { matches, view } = evaluation
  const valuesOf = VALUES[field](evaluation)
  const tallies = new Map<string, Tally>()
  const tick = view.time?.ticker()
  let other = 0
  for (let place = 0; place < matches.count; place++) {
    tick?.()
    const row = matches.rows[place] as number
    const source = matches.sources[place] as number
    for (const value of valuesOf(row, source)) {
      if (value === null) {
        other++
        continue
      }
      const tally = tallies.get(value) ?? { open: 0, federated: 0, holders: new Set() }
      tallies.set(value, tally)
      if (source !== FEDERATED) tally.open++
      else {
        tally.federated++
        tally.holders.add(view.columns.arrays.holders[row] as number)
      }
    }
  }
  const selected = selectedValues(field, evaluation.question.filters)
  const counted = [...tallies].map(([value, tally]) => {
    // For the field `holder_id` no minimum applies: a pseudonym always has exactly one holder, and every answer with the holder's beliefs
    // shows it.
    const isReported = field === 'holder_id' || tally.holders.size >= MIN_HOLDERS
    if (!isReported) other += tally.federated
    return { value, count: tally.open + (isReported ? tally.federated : 0), selected: selected.has(value) }
  })
  const shownValues = counted
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || compareText(a.value, b.value))
  for (const { count } of shownValues.slice(MAX_VALUES)) other += count
  return { values: shownValues.slice(0, MAX_VALUES), other_count: other }
}

interface Tally {
  /** Number of beliefs with the value that are the requester's own or public. */
  open: number
  federated: number
  /** Holders of the federated beliefs with the value, by number. */
  readonly holders: Set<number>
}

/** Returns the values of a row in a field. A null in the list is a value that must not be reported, such as the name of a hidden holder. */
type ValuesOf = (row: number, source: number) => readonly (string | null)[]

const VALUES: Readonly<Record<FacetField, (evaluation: Evaluation) => ValuesOf>> = {
  domains: ({ view: { columns } }) => {
    const sets = new Map<number, readonly string[]>()
    return row => {
      const set = columns.arrays.domainSets[row] as number
      const known = sets.get(set) ?? [...new Set(columns.texts.domainSet(set))]
      sets.set(set, known)
      return known
    }
  },
  holder_id: evaluation => (row, source) => [evaluation.origins.holderShown(row, source)],
  derivation_type: ({ view: { columns } }) => {
    const { derivations } = columns.arrays
    return row => [DERIVATION_TYPES[derivations[row] as number] ?? null]
  },
  visibility: ({ view: { columns } }) => {
    const { visibilities } = columns.arrays
    return row => [VISIBILITIES[visibilities[row] as number] ?? null]
  },
  confidence_bucket: ({ view: { columns }, question: { context } }) => {
    const weights = weightColumn(context.confidenceWeights)
    const { confidences } = columns.arrays
    return row => [bucketOf(overallOf(confidences, row * DIMENSION_COUNT, weights))]
  },
}

/** Bucket of an overall confidence: `low` below 0.4, `medium` below 0.7, otherwise `high`; null: unknown. */
function bucketOf(overall: number): string | null {
  if (Number.isNaN(overall)) return null
  if (overall < 0.4) return 'low'
  return overall < 0.7 ? 'medium' : 'high'
}

/** Values of a field that the query's filters require, to be marked as selected. */
function selectedValues(field: FacetField, filters: readonly CheckedFilters[]): ReadonlySet<string> {
  return new Set(filters.flatMap(filter => [...NAMED[field](filter)]))
}

const NAMED: Readonly<Record<FacetField, (filter: CheckedFilters) => Iterable<string>>> = {
  domains: ({ domainsInclude }) => domainsInclude ?? [],
  holder_id: ({ holderIds }) => holderIds ?? [],
  derivation_type: ({ derivationTypes }) => derivationTypes ?? [],
  visibility: ({ visibilityLevels }) => visibilityLevels ?? [],
  confidence_bucket: () => [],
}

// Batches of queries, and diagnostics (calibration and counters) for the node's operator (BQ-040, BQ-177).

type BatchResult = Value<typeof batchAnswer>

/**
 * Runs several queries one after the other, because they share one embedder. `ask` checks and answers one query; `failed` converts its
 * error. Between two queries other work can run, and a cancellation ends the batch.
 */
export async function runBatch(
  queries: readonly unknown[],
  ask: (query: unknown) => Promise<QueryResult>,
  failed: (thrown: unknown) => BeliefsError,
  signal: AbortSignal,
): Promise<BatchResult> {
  const started = performance.now()
  const results: BatchResult['results'][number][] = []
  for (const query of queries) {
    await nextTurn()
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the batch')
    try {
      results.push({ ok: true, result: await ask(query) })
    } catch (thrown) {
      results.push({ ok: false, error: failed(thrown).toJSON() })
    }
  }
  const succeeded = results.filter(({ ok }) => ok).length
  return {
    results,
    total_time_ms: Math.round((performance.now() - started) * 1000) / 1000,
    succeeded,
    failed: results.length - succeeded,
  }
}

/**
 * Calibration and counters of this engine. `rerun`: calibrate the embedding model now, which embeds some hundred texts; the result is only
 * reported, not stored.
 */
export async function diagnose(
  state: BeliefsState,
  rerun: boolean,
  signal: AbortSignal,
): Promise<Value<typeof diagnosticsAnswer>> {
  return { calibration: await calibrationOf(state, rerun, signal), counters: countersOf(state.host).values }
}

async function calibrationOf(
  { host: { embedder }, settings }: BeliefsState,
  rerun: boolean,
  signal: AbortSignal,
): Promise<Value<typeof diagnosticsAnswer>['calibration']> {
  if (embedder === null) return null
  const model = modelKey(embedder.model)
  const inUse = thresholdsOf(settings, model)
  const shipped = SHIPPED.get(model)
  return {
    model,
    in_use: inUse === null ? null : { ...inUse },
    from: settings.thresholds.has(model) ? 'settings' : shipped === undefined ? 'nothing' : 'shipped',
    shipped: shipped === undefined ? null : shownResult(shipped),
    rerun: rerun ? shownResult(await calibrate(embedder, signal)) : null,
  }
}

function shownResult(result: CalibrationResult) {
  return {
    threshold: result.threshold,
    related_pairs: result.relatedPairs,
    related_passed: result.relatedPassed,
    unrelated_pairs: result.unrelatedPairs,
    unrelated_passed: result.unrelatedPassed,
  }
}
