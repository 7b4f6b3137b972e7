/** What a requester's trust comes to for the holders of beliefs, by number of the holder: what filters and ranking read. */

import type { Requester } from '../access/requester.ts'
import { trustedAsGuest, trustedThrough } from '../access/row-origins.ts'
import type { ShowView } from '../access/show.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { CheckedContext } from '../schema/filters.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import type { TrustIn, TrustQuestion } from '../trust/trust-in.ts'
import type { ScoredBelief } from './scored.ts'

/** What of a context trust depends on. */
export function trustQuestion({
  queryDomains,
  domainTrustWeight,
  maxTrustHops,
  transitiveDamping,
}: Pick<CheckedContext, 'queryDomains' | 'domainTrustWeight' | 'maxTrustHops' | 'transitiveDamping'>): TrustQuestion {
  return { domains: queryDomains, domainTrustWeight, maxHops: maxTrustHops, damping: transitiveDamping }
}

export function trustColumns(trust: HolderTrust, columns: BeliefColumns): HolderColumns {
  return trust.columns(holderNames(columns))
}

interface Names {
  readonly mark: string
  readonly names: readonly string[]
}

const NAMES = new WeakMap<BeliefColumns, Names>()

/** By number; made again when there is another holder. */
export function holderNames(columns: BeliefColumns): readonly string[] {
  const known = NAMES.get(columns)
  if (known?.mark === columns.texts.holdersMark) return known.names
  const names = Array.from({ length: columns.texts.bounds.holders }, (_, number) => columns.texts.holder(number))
  NAMES.set(columns, { mark: columns.texts.holdersMark, names })
  return names
}

export interface TrustFound {
  readonly trust: TrustIn
  /** A strict federation counts as a whole (BQ-104). */
  readonly of: 'holder' | 'federation'
  /** It came through a federation, so that no more of it may be shown than its band (BQ-107). */
  readonly isShared: boolean
}

export interface TrustWorld {
  readonly trust: HolderTrust
  readonly requester: Requester
  readonly view: ShowView
}

/** What the trust part of a score rests on. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row, entry }: ScoredBelief): TrustFound {
  const guest = view.guests?.get(entry)
  const holder = view.columns.holderOf(row)
  const as = guest === undefined ? trustedThrough(requester, source, holder) : trustedAsGuest(guest)
  if (as === null) return { trust: trust.of(holder), of: 'holder', isShared: false }
  const isShared = source.kind === 'federated'
  return { trust: trust.as(as), of: isShared && as.member === null ? 'federation' : 'holder', isShared }
}
