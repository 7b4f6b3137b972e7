/** Whom the trust part of a score is about, and what trust in them comes to. */
import { trustedAsGuest } from '../access/row-origins.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { TrustIn } from '../trust/trust-in.ts'
import type { ScoredBelief } from './scored.ts'

export interface TrustFound {
  readonly trust: TrustIn
  /** A strict federation counts as a whole (BQ-104). */
  readonly of: 'holder' | 'federation'
}

export type TrustWorld = Pick<Evaluation, 'trust' | 'requester' | 'view'>

/** What the trust part of a score rests on. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row, entry }: ScoredBelief): TrustFound {
  const guest = view.guests?.get(entry)
  if (guest !== undefined) {
    return { trust: trust.of(trustedAsGuest(guest)), of: guest.source.kind === 'federated' ? 'federation' : 'holder' }
  }
  const holder = view.columns.holderOf(row)
  const federation = source.kind === 'federated' && holder !== requester.id ? source.id : null
  if (federation !== null && requester.isStrict(federation)) {
    return { trust: trust.ofFederation(federation), of: 'federation' }
  }
  return { trust: trust.of(holder), of: 'holder' }
}
