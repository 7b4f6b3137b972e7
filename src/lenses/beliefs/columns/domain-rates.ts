import { type DecayTable, decayRate } from '../measures/decay.ts'
import type { BeliefColumns } from './columns.ts'

/** How fast each domain set ages, a day, for who asks about these domains: worked out when first asked for. */
export function domainRates(
  columns: BeliefColumns,
  queryDomains: readonly string[],
  table: DecayTable,
): (domainSet: number) => number {
  const known = new Map<number, number>()
  return set => {
    const rate = known.get(set) ?? decayRate(columns.texts.domainSet(set), queryDomains, table)
    known.set(set, rate)
    return rate
  }
}
