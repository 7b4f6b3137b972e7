/** Whether much of the trust in a page is trust in one holder (BQ-197): told from what the page shows. */

import type { RankedBelief } from '../model.ts'
import type { CheckedWarning } from '../schema/context.ts'

/** On a shorter page a large share says nothing: of two holders one has half at least. */
const MIN_RESULTS = 5
const WARN = 0.3
const CRITICAL = 0.5

/** All that counts of a result. */
export interface TrustShare {
  readonly belief: Pick<RankedBelief['belief'], 'holder_id'>
  readonly score: { readonly components: Pick<RankedBelief['score']['components'], 'trust_score'> }
  readonly federation_id?: RankedBelief['federation_id']
}

export function shareOf({ belief, score, federation_id }: RankedBelief): TrustShare {
  return {
    belief: { holder_id: belief.holder_id },
    score: { components: { trust_score: score.components.trust_score } },
    ...(federation_id !== undefined && { federation_id }),
  }
}

const CODES = { critical: 'trust_concentration_critical', warn: 'trust_concentration_warn' } as const

export function isOfConcentration(code: string): boolean {
  return Object.values<string>(CODES).includes(code)
}

/** A line for each holder above the bound, most first. The requester's own beliefs count in the sum and are not warned of. */
export function concentrationWarnings(beliefs: readonly TrustShare[], requester: string): readonly CheckedWarning[] {
  if (beliefs.length < MIN_RESULTS) return []
  const sums = new Map<string, number>()
  let total = 0
  for (const { belief, score, federation_id } of beliefs) {
    const { trust_score } = score.components
    // Whose holders a federation does not show are all its own.
    const holder = belief.holder_id ?? `the federation ${federation_id}`
    sums.set(holder, (sums.get(holder) ?? 0) + trust_score)
    total += trust_score
  }
  return [...sums]
    .map(([holder, sum]) => ({ holder, share: total === 0 ? 0 : sum / total }))
    .filter(({ holder, share }) => holder !== requester && share > WARN)
    .sort((a, b) => b.share - a.share)
    .map(({ holder, share }) => ({
      code: share > CRITICAL ? CODES.critical : CODES.warn,
      message: `${Math.floor(share * 1000) / 10} % of the trust in this page is trust in ${holder}.`,
    }))
}
