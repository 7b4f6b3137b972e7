/** What requests cost (BQ-190): by what was asked alone, so that a price shows nothing of what there is. */
import { type BeliefOptions, DEFAULT_LIMIT } from '../schema/query.ts'

/** Bytes of a request with a question, as HTTP reads it (BQ-191). */
export const BODY_LIMIT: number = 256 * 1024

const FEDERATED = 2
const NETWORK = 4
const EXPLANATION = 1
const DIVERSITY = 1
/** Results that one unit pays for. */
const RESULTS = 100

/** Units, 1 or more. Piece by piece it costs what it costs as a page. */
export function costOf(options: BeliefOptions = {}): number {
  const { scope, diversity, limit = DEFAULT_LIMIT, max_derivation_depth: depth = 5 } = options
  return (
    1 +
    (scope?.federated === true ? FEDERATED : 0) +
    (scope?.network === true ? NETWORK : 0) +
    (options.include_explanation === true ? EXPLANATION : 0) +
    (options.include_derivation === true ? depth : 0) +
    (diversity?.enabled === true ? DIVERSITY : 0) +
    Math.max(0, Math.ceil(limit / RESULTS) - 1)
  )
}
