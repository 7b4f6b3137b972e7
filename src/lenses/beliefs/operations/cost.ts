/** What requests cost (BQ-190): by what was asked alone, so that a price tells nothing of what there is. */
import type { Asker, CheckedOptions } from '../check/checked.ts'
import { checkStreamedQuery } from '../check/query.ts'
import {
  checkBatch,
  checkContextQuery,
  checkContradictions,
  checkDerivation,
  checkExpand,
  checkExplain,
  checkFacets,
  checkSimilar,
  EXPANSION_DEPTH,
} from '../check/questions.ts'
import { BeliefsError } from '../errors.ts'

/** Bytes of a request with a question, as a door reads it (BQ-191). */
export const BODY_LIMIT: number = 256 * 1024

const FEDERATED = 2
const NETWORK = 4
const EXPLANATION = 1
const DIVERSITY = 1
/** Results that one unit pays for. */
const RESULTS = 100

type Cost = (input: unknown) => number

/** Piece by piece it costs what it costs as a page. */
export const costOfQuery: Cost = priced(input => costOf(checkStreamedQuery(input, ANYBODY).options))
export const costOfFacets: Cost = priced(input => costOf(checkFacets(input, ANYBODY).query.options))
export const costOfContextQuery: Cost = priced(input => costOf(checkContextQuery(input, ANYBODY).query.options))
export const costOfSimilar: Cost = priced(input => costOf(checkSimilar(input, ANYBODY)))
export const costOfContradictions: Cost = priced(input => costOf(checkContradictions(input, ANYBODY)))
export const costOfDerivation: Cost = priced(input => 1 + checkDerivation(input).maxDepth)

export const costOfExpand: Cost = priced(input => {
  const { scope, include } = checkExpand(input, ANYBODY)
  return costOf({ scope, includeDerivation: include.includes('derivation'), maxDerivationDepth: EXPANSION_DEPTH })
})

/** An explanation is what is asked for, whatever the query's options say of it. */
export const costOfExplain: Cost = priced(input =>
  costOf({ ...checkExplain(input, ANYBODY).query.options, includeExplanation: true }),
)

/** Each query of a batch is charged on its own (BQ-175). */
export const costOfBatch: Cost = priced(input => {
  checkBatch(input)
  return 0
})

type Priced = Partial<CheckedOptions> & Pick<CheckedOptions, 'scope'>

function costOf(asked: Priced): number {
  const { scope, includeExplanation, includeDerivation, maxDerivationDepth = 0, diversity, limit = 0 } = asked
  return (
    1 +
    (scope.federated ? FEDERATED : 0) +
    (scope.network ? NETWORK : 0) +
    (includeExplanation ? EXPLANATION : 0) +
    (includeDerivation ? maxDerivationDepth : 0) +
    (diversity?.enabled ? DIVERSITY : 0) +
    Math.max(0, Math.ceil(limit / RESULTS) - 1)
  )
}

/** What will be refused costs one unit (BQ-186). */
function priced(price: Cost): Cost {
  return input => {
    try {
      return price(input)
    } catch (thrown) {
      if (thrown instanceof BeliefsError) return 1
      throw thrown
    }
  }
}

/** Whom a request names as its asker makes no difference to its price. */
const ANYBODY: Asker = { id: '', trustGraph: null, isAnybody: true }
