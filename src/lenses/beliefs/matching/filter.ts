/**
 * Makes tests of single rows from the filters of a query (BQ-044 to BQ-058); no test depends on other rows of the result. Cheap tests come
 * first, and results that are equal for all beliefs of a holder or domain set are computed once.
 */
import type { Instant } from '../../../base/clock.ts'
import type { RowOrigins, ShowView } from '../access/show.ts'
import { type BeliefArrays, type ColumnTexts, DIMENSION_COUNT } from '../columns/column-arrays.ts'
import { domainRates } from '../columns/columns.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { type DecayTable, freshnessNow, overallOf, weightColumn } from '../measures/confidence.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { derivationDepths } from '../record/read.ts'
import type { CheckedFilters, ConfidenceBound } from '../schema/filters.ts'
import type { CheckedQuery } from '../schema/query.ts'
import { isWithin } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import type { HolderColumns } from '../trust/holders.ts'

/** The columns of beliefs that filters read. */
interface FilterColumns {
  readonly arrays: Pick<BeliefArrays, 'created' | 'derivations' | 'visibilities' | 'domainSets' | 'confidences'>
  readonly texts: {
    readonly bounds: Pick<ColumnTexts['bounds'], 'domainSets'>
    domainSet(number: number): readonly string[]
  }
}

export interface FilterWorld {
  readonly columns: FilterColumns
  readonly asOf: Instant
  readonly queryDomains: readonly string[]
  /** Overall confidence of a row's belief, with the weights of the query; NaN: unknown. */
  readonly overall: (row: number) => number
  readonly decay: DecayTable
  /** Name of the belief's holder as the requester sees it, possibly a pseudonym; null: the holder is hidden. */
  holderShown(row: number, source: number): string | null
  /**
   * Overall reputation of the holder, and the requester's direct trust in the holder, for filters on a row; NaN: none. For a belief that
   * came through a federation, both may be those of the federation.
   */
  reputation(row: number, source: number): number
  direct(row: number, source: number): number
  /**
   * Minimum number of derivation steps from the row's belief to a root (a belief based on no visible belief), over beliefs that the
   * requester sees; infinite: there is no root.
   */
  depth(row: number): number
}

export type RowTest = (row: number, source: number) => boolean

/**
 * Tests that a row must all pass, cheap ones first. The filter `validAt` is not among them, because it was applied when the beliefs in
 * scope were selected.
 */
export function rowTests(filters: readonly CheckedFilters[], world: FilterWorld): readonly RowTest[] {
  const makers = [byTimes, byKinds, byDomains, byConfidence, byReputation, byTrust, byHolder, byDepth]
  return makers.flatMap(make => filters.flatMap(filter => make(filter, world)))
}

type Maker = (filter: CheckedFilters, world: FilterWorld) => readonly RowTest[]

const byTimes: Maker = ({ createdAfter, createdBefore, createdWithinMs }, { columns, asOf }) => {
  if (createdAfter === null && createdBefore === null && createdWithinMs === null) return []
  const { created } = columns.arrays
  const oldest = Math.max(createdAfter ?? -Infinity, createdWithinMs === null ? -Infinity : asOf - createdWithinMs)
  const newest = createdBefore ?? Number.POSITIVE_INFINITY
  return [row => (created[row] as number) >= oldest && (created[row] as number) <= newest]
}

const byKinds: Maker = ({ derivationTypes, visibilityLevels }, { columns }) => {
  const { derivations, visibilities } = columns.arrays
  return [
    ...placed(derivations, DERIVATION_TYPES, derivationTypes),
    ...placed(visibilities, VISIBILITIES, visibilityLevels),
  ]
}

function placed<T>(column: Uint8Array, names: readonly T[], wanted: ReadonlySet<T> | null): readonly RowTest[] {
  if (wanted === null) return []
  const isWanted = names.map(name => wanted.has(name))
  return [row => isWanted[column[row] as number] === true]
}

const byDomains: Maker = ({ domainsInclude, domainsExclude }, { columns }) => {
  if (domainsInclude === null && domainsExclude.length === 0) return []
  const { domainSets } = columns.arrays
  const lies = (domains: readonly string[], in_: readonly string[]) =>
    domains.some(domain => in_.some(ancestor => isWithin(domain, ancestor)))
  const passes = remembered(columns.texts.bounds.domainSets, set => {
    const domains = columns.texts.domainSet(set)
    return (domainsInclude === null || lies(domains, domainsInclude)) && !lies(domains, domainsExclude)
  })
  return [row => passes(domainSets[row] as number)]
}

const byConfidence: Maker = ({ confidence }, world) => confidence.map(bound => confidenceTest(bound, world))

function confidenceTest({ of, bound, strict }: ConfidenceBound, world: FilterWorld): RowTest {
  const { overall } = world
  const known = of === 'overall' ? overall : dimensionColumn(of, world)
  // An unknown value is NaN, for which both comparisons are false, so a belief with an unknown value never passes.
  return strict ? row => known(row) > bound : row => known(row) >= bound
}

function dimensionColumn(of: (typeof DIMENSIONS)[number], world: FilterWorld): (row: number) => number {
  const { columns, asOf, queryDomains, decay } = world
  const { confidences, created, domainSets } = columns.arrays
  const offset = DIMENSIONS.indexOf(of)
  const asserted = (row: number) => confidences[row * DIMENSION_COUNT + offset] as number
  if (of !== 'temporal_freshness') return asserted
  const rateOf = domainRates(columns, queryDomains, decay)
  return row => {
    const rate = rateOf(domainSets[row] as number)
    return freshnessNow(asserted(row), created[row] as number, asOf, rate) ?? Number.NaN
  }
}

const byReputation: Maker = ({ minHolderReputation: least }, world) =>
  least === null ? [] : [(row, source) => world.reputation(row, source) >= least]

const byTrust: Maker = ({ directTrustAbove: bound }, world) =>
  bound === null ? [] : [(row, source) => world.direct(row, source) > bound]

const byHolder: Maker = ({ holderIds, excludeHolders }, world) => {
  if (holderIds === null && excludeHolders.size === 0) return []
  return [
    (row, source) => {
      const shown = world.holderShown(row, source)
      if (shown === null) return holderIds === null
      return (holderIds === null || holderIds.has(shown)) && !excludeHolders.has(shown)
    },
  ]
}

const byDepth: Maker = ({ maxDerivationDepth: most }, world) => (most === null ? [] : [row => world.depth(row) <= most])

/**
 * Wraps a test of numbers so that it is run once for each number below `bound`. In the cache, 1 means true, 2 false, and 0 not tested yet.
 */
function remembered(bound: number, ask: (number: number) => boolean): (number: number) => boolean {
  const known = new Uint8Array(bound)
  return number => {
    if (known[number] === 0) known[number] = ask(number) ? 1 : 2
    return known[number] === 1
  }
}

/** The query, its requester and the time for which filters are evaluated. */
interface Moment {
  readonly state: Pick<BeliefsState, 'settings'>
  readonly view: ShowView
  readonly question: Pick<CheckedQuery, 'context'>
  readonly asOf: Instant
  readonly origins: RowOrigins
  readonly trustColumns: HolderColumns
}

/**
 * Makes the functions through which filters read a row. Derivation depths and trust values are computed only when a filter first needs
 * them.
 */
export function filterWorld({ state, view, question, asOf, origins, trustColumns }: Moment): FilterWorld {
  const { columns } = view
  const { queryDomains, confidenceWeights } = question.context
  const { holders, confidences } = columns.arrays
  const weights = weightColumn(confidenceWeights)
  const ofHolder = (column: 'reputation' | 'direct') => {
    let values: Float64Array | null = null
    return (row: number, source: number): number => {
      const as = origins.trustedAs(row, source)
      if (as !== null) return trustColumns.named(as.target)[column]
      values ??= trustColumns[column]
      return values[holders[row] as number] as number
    }
  }
  let depths: ((row: number) => number) | null = null
  return {
    columns,
    asOf,
    queryDomains,
    overall: row => overallOf(confidences, row * DIMENSION_COUNT, weights),
    decay: state.settings.decay,
    holderShown: (row, source) => origins.holderShown(row, source),
    reputation: ofHolder('reputation'),
    direct: ofHolder('direct'),
    depth: row => {
      depths ??= derivationDepths(view)
      return depths(row)
    },
  }
}
