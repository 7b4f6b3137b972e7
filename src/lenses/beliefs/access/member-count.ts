/** What is told of a belief that comes through a federation: which one, and how many in it say the same (BQ-102). */
import type { BeliefColumns } from '../columns/columns.ts'
import type { BeliefSource, RankedBelief } from '../model.ts'
import type { View } from '../record/read.ts'
import type { Requester } from './requester.ts'

/**
 * Distinct holders, active in the federation, of beliefs that are shared with it and have the content of this one; at
 * least 1. Private copies and those shared elsewhere do not count.
 */
export function memberCount(columns: BeliefColumns, requester: Requester, row: number, federation: string): number {
  const { partitions, holders } = columns.arrays
  const counted = new Set<number>()
  for (let copy = columns.firstCopy(row); copy !== -1; copy = columns.nextCopy(copy)) {
    const partition = partitions[copy] as number
    if (requester.federationsOf(partition).includes(federation)) counted.add(holders[copy] as number)
  }
  return Math.max(1, counted.size)
}

/** Of a belief that does not, nothing. */
export function throughFederation(
  { columns, requester }: View,
  row: number,
  { kind, id }: BeliefSource,
): Pick<RankedBelief, 'federation_id' | 'member_count'> {
  if (kind !== 'federated' || id === null) return {}
  return { federation_id: id, member_count: memberCount(columns, requester, row, id) }
}
