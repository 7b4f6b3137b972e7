/** What is told of the trust in a belief's holder (BQ-107): the requester's own edge exactly, of others' next to nothing. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../query/scored.ts'
import { type DirectTrust, type TrustIn, trustBand } from '../trust/holders.ts'

export interface TrustFound {
  readonly trust: TrustIn
  /** A strict federation counts as a whole (BQ-104). */
  readonly of: 'holder' | 'federation'
}

export type TrustWorld = Pick<Evaluation, 'trust' | 'requester' | 'view'>

/** What the trust part of a score rests on. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row }: ScoredBelief): TrustFound {
  const holder = view.columns.holderOf(row)
  const federation = source.kind === 'federated' && holder !== requester.id ? source.id : null
  if (federation !== null && requester.isStrict(federation)) {
    return { trust: trust.ofFederation(federation), of: 'federation' }
  }
  return { trust: trust.of(holder), of: 'holder' }
}

export function explainTrust({ trust, of }: TrustFound): JsonObject {
  return { kind: trust.kind, of, ...detailsOf(trust) }
}

function detailsOf({ kind, direct, transitive }: TrustIn): JsonObject {
  if (kind === 'direct' && direct !== null) return { direct: ownEdge(direct) }
  if (kind === 'transitive' && transitive !== null) {
    const { level, sources } = transitive
    return { transitive: { band: trustBand(level), sources: sources > 1 ? 'several' : 'one' } }
  }
  return {}
}

function ownEdge({ level, entries, base, days, rate, decayed, value, distrusted }: DirectTrust): JsonObject {
  return { level, entries: { ...entries }, base, days_since_use: days, rate, decayed, value, distrusted }
}
