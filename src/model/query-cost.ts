/** What asking the pipeline costs (BQ-190): by what was asked alone, so that a price tells nothing of what there is. */

/** Results that one unit pays for. */
const RESULTS = 100
/** What more results than this are asked for costs no more: some operations have no bound of their own. */
const MOST_RESULTS = 10_000

/** What of a request its price depends on. */
export interface Priced {
  readonly limit?: number | undefined
  readonly explain?: boolean | undefined
  readonly trace?: boolean | undefined
  readonly diversity?: number | undefined
}

/** Units: 1, and 1 more for reasons, for spread, and for each started hundred of results above the first. */
export function costOfAsking({ limit = 0, explain = false, trace = false, diversity = 1 }: Priced): number {
  const reasons = explain || trace ? 1 : 0
  const spread = diversity < 1 ? 1 : 0
  return 1 + reasons + spread + Math.max(0, Math.ceil(Math.min(limit, MOST_RESULTS) / RESULTS) - 1)
}
