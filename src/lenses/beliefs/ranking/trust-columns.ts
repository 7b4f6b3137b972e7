/** What a requester's trust comes to for the holders of beliefs, by number of the holder: what filters and ranking read. */

import type { BeliefColumns } from '../columns/columns.ts'
import type { CheckedContext } from '../schema/filters.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import type { TrustQuestion } from '../trust/trust-in.ts'

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

/** By number; made anew when there is another holder. */
export function holderNames(columns: BeliefColumns): readonly string[] {
  const known = NAMES.get(columns)
  if (known?.mark === columns.texts.holdersMark) return known.names
  const names = Array.from({ length: columns.texts.bounds.holders }, (_, number) => columns.texts.holder(number))
  NAMES.set(columns, { mark: columns.texts.holdersMark, names })
  return names
}
