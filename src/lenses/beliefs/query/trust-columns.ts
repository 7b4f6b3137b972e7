/** What a requester's trust comes to for the holders of beliefs, by number of the holder: what filters and ranking read. */
import type { Instant } from '../../../base/clock.ts'
import type { CheckedContext } from '../check/checked.ts'
import type { BeliefsState } from '../state.ts'

export interface TrustColumns {
  /** 0 to 1 (BQ-080). */
  readonly trust: Float64Array
  /** The requester's own edge, as ranking sees it; NaN: there is none. Of itself 1. */
  readonly direct: Float64Array
  /** Overall; NaN: the agent has none. */
  readonly reputation: Float64Array
  /** The same for a federation that shows no holders (BQ-104). */
  ofFederation(id: string): { readonly trust: number; readonly direct: number; readonly reputation: number }
}

export declare function trustColumns(
  state: BeliefsState,
  requester: string,
  context: Pick<CheckedContext, 'queryDomains' | 'domainTrustWeight' | 'maxTrustHops' | 'transitiveDamping'>,
  asOf: Instant,
): TrustColumns
