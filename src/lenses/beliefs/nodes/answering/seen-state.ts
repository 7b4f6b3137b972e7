/**
 * What another node may see of a scope, as one text: the same in every process of this store, also after a restart, and another
 * one after each change of a visible belief. What is hidden from it has no part in it (BQ-111).
 */
import { canonicalJson } from '../../../../base/canonical.ts'
import { sign } from '../../../../base/signature.ts'
import { hashOfTwo, textHash } from '../../../../base/text-hash.ts'
import type { ShowView } from '../../access/show.ts'
import type { BeliefColumns } from '../../columns/columns.ts'
import type { WireScope } from '../wire/protocol.ts'

/** `sender`: whose it is, so that two who compare theirs learn nothing. */
export function seenState(view: ShowView, scope: WireScope, sender: string): string {
  const { columns, requester } = view
  const sum = sumOf(columns, requester.sight.partitions)
  return sign(view.secret(), canonicalJson(['state', scope.federation, sender, sum[0], sum[1]]))
}

type Sum = readonly [number, number]

interface KeptSum {
  readonly changes: number
  readonly sum: Sum
}

const SUMS = new WeakMap<BeliefColumns, Map<string, KeptSum>>()
/** Sets of partitions that somebody looks at. */
const MOST_KEPT = 1_000

/** Of all rows in these partitions, in whatever order: made again where one of them has changed. */
function sumOf(columns: BeliefColumns, partitions: readonly number[]): Sum {
  const kept = SUMS.get(columns) ?? new Map<string, KeptSum>()
  SUMS.set(columns, kept)
  const name = partitions.join()
  const changes = columns.changesIn(partitions)
  const known = kept.get(name)
  if (known?.changes === changes) return known.sum
  if (kept.size >= MOST_KEPT) kept.clear()
  const { marks } = columns.arrays
  let [one, other] = [0, 0]
  for (const partition of partitions) {
    for (const row of columns.rowsIn(partition)) {
      // By name: the store's numbers depend on what else was ever written.
      const holder = textHash(columns.holderOf(row))
      one = (one + hashOfTwo(marks[row * 2] as number, holder)) | 0
      other = (other + hashOfTwo(marks[row * 2 + 1] as number, holder)) | 0
    }
  }
  const sum = [one, other] as const
  kept.set(name, { changes, sum })
  return sum
}
