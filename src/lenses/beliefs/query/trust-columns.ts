/** What a requester's trust comes to for the holders of beliefs, by number of the holder: what filters and ranking read. */
import type { Instant } from '../../../base/clock.ts'
import type { CheckedContext } from '../check/checked.ts'
import type { BeliefColumns } from '../record/columns.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'

/** The part of a query that trust depends on. */
export type TrustContext = Pick<
  CheckedContext,
  'queryDomains' | 'domainTrustWeight' | 'maxTrustHops' | 'transitiveDamping'
>

export interface TrustSource {
  trustOf(
    viewer: string,
    question: {
      readonly domains: readonly string[]
      readonly domainTrustWeight: number
      readonly maxHops: number
      readonly damping: number
    },
    asOf: Instant,
  ): HolderTrust
}

export function holderTrust(source: TrustSource, requester: string, context: TrustContext, asOf: Instant): HolderTrust {
  const { queryDomains, domainTrustWeight, maxTrustHops, transitiveDamping } = context
  const question = { domains: queryDomains, domainTrustWeight, maxHops: maxTrustHops, damping: transitiveDamping }
  return source.trustOf(requester, question, asOf)
}

export function trustColumns(trust: HolderTrust, columns: BeliefColumns): HolderColumns {
  return trust.columns(Array.from({ length: columns.bounds.holders }, (_, number) => columns.holderName(number)))
}
