/** What filters may ask of a row, as of one moment and for who asks. */
import type { Instant } from '../../../base/clock.ts'
import type { RowOrigins } from '../access/row-origins.ts'
import type { ShowView } from '../access/show.ts'
import { DIMENSION_COUNT } from '../columns/column-arrays.ts'
import type { FilterWorld } from '../matching/filter.ts'
import { overallOf, weightColumn } from '../measures/confidence.ts'
import { DerivationDepths } from '../record/derivation.ts'
import type { BeliefsState } from '../state.ts'
import type { HolderColumns } from '../trust/holders.ts'
import type { Question } from './question.ts'

interface Moment {
  readonly state: BeliefsState
  readonly view: ShowView
  readonly question: Question
  readonly asOf: Instant
  readonly origins: RowOrigins
  readonly trustColumns: HolderColumns
}

/** Depths, and columns of trust, are made when a filter first asks for them. */
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
  let depths: DerivationDepths | null = null
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
      depths ??= new DerivationDepths(view)
      return depths.of(row)
    },
  }
}
