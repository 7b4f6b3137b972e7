/** Whom the trust part of a score is about, and what trust in them comes to. */
import { trustedAsGuest, trustedThrough } from '../access/row-origins.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { TrustIn } from '../trust/trust-in.ts'
import type { ScoredBelief } from './scored.ts'

export interface TrustFound {
  readonly trust: TrustIn
  /** A strict federation counts as a whole (BQ-104). */
  readonly of: 'holder' | 'federation'
  /** It came through a federation, so that no more of it may be shown than its band (BQ-107). */
  readonly isShared: boolean
}

export type TrustWorld = Pick<Evaluation, 'trust' | 'requester' | 'view'>

/** What the trust part of a score rests on. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row, entry }: ScoredBelief): TrustFound {
  const guest = view.guests?.get(entry)
  const holder = view.columns.holderOf(row)
  const as = guest === undefined ? trustedThrough(requester, source, holder) : trustedAsGuest(guest)
  if (as === null) return { trust: trust.of(holder), of: 'holder', isShared: false }
  const isShared = source.kind === 'federated'
  return { trust: trust.as(as), of: isShared && as.member === null ? 'federation' : 'holder', isShared }
}
