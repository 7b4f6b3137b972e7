/** What is told of the trust in a belief's holder (BQ-107): the requester's own edge exactly, of others' next to nothing. */
import type { Explanation } from '../model.ts'
import type { TrustFound } from '../ranking/trust-found.ts'
import { type DirectTrust, type TrustIn, trustBand } from '../trust/trust-in.ts'

type TrustPart = Explanation['trust']

export function explainTrust(found: TrustFound): Omit<TrustPart, 'value' | 'weight' | 'contribution'> {
  const { trust, of, isShared } = found
  return { kind: trust.kind, of, ...(isShared ? { shared: bandOf(trust) } : detailsOf(trust)) }
}

function bandOf({ value, transitive }: TrustIn) {
  return { band: trustBand(value), sources: (transitive?.sources ?? 1) > 1 ? ('several' as const) : ('one' as const) }
}

function detailsOf({ kind, direct, transitive }: TrustIn): Pick<TrustPart, 'direct' | 'transitive'> {
  if (kind === 'direct' && direct !== null) return { direct: ownEdge(direct) }
  if (kind === 'transitive' && transitive !== null) {
    const { level, sources } = transitive
    return { transitive: { band: trustBand(level), sources: sources > 1 ? 'several' : 'one' } }
  }
  return {}
}

function ownEdge({ level, entries, base, days, rate, decayed, value, distrusted }: DirectTrust) {
  return { level, entries: { ...entries }, base, days_since_use: days, rate, decayed, value, distrusted }
}
