/** Asking why: an entry's place in the answer to a question, its reasons, and what keeps it below or above another. */
import type { Explanation } from './explanation.ts'
import type { QueryInput } from './query-input.ts'

export interface ExplainRequest {
  readonly query: QueryInput
  /** The entry to explain, by id. */
  readonly id: string
  /** Where passages are ranked: position in the entry, from 1. Absent: the passage of it that ranks best. */
  readonly passage?: number | undefined
  /** Why `id` and not this one: the exact gap, and the smallest change of weights that swaps them. */
  readonly over?: string | undefined
  /** As `passage`, of `over`. */
  readonly over_passage?: number | undefined
}

/** Why an entry is where it is, or the first stage that dropped it. */
export interface ExplainAnswer {
  readonly id: string
  /** Only where passages are ranked: position in the entry, from 1. */
  readonly passage?: number | undefined
  /** Over the whole answer, also where the page ends before it; null where it has no rank. */
  readonly rank: number | null
  readonly score: number | null
  readonly explanation: Explanation | null
  /** Null when it was found; else the first stage that dropped it, and why. */
  readonly dropped: Dropped | null
  readonly over: Comparison | null
  readonly sentence: string
}

/**
 * `filter`, `validity`, `must`, `phrase`, `exclusion`: it does not fulfil a condition. `retrieve`: no leg brought it.
 * `score`: nothing speaks for it. `verdict`: the whole answer was refused. `diversify`: a cap or the spread passed over it. `page`: it is beyond.
 */
export interface Dropped {
  readonly stage: string
  readonly reason: string
}

export interface Comparison {
  readonly id: string
  /** As in `ExplainAnswer`. */
  readonly passage?: number | undefined
  readonly rank: number | null
  /** Score of the entry asked about less the other's; one that is not in the answer counts as 0. */
  readonly gap: number
  /** The gap by component; adds up to it as far as rounding allows. */
  readonly by_component: Readonly<Record<string, number>>
  /** The smallest change of one weight that makes them change places; null where none does. */
  readonly swap: { readonly weight: string; readonly from: number; readonly to: number } | null
  readonly sentence: string
}
