/** The first pass over all beliefs: those that a requester may see, in the sources asked for, made and valid by then. */
import type { Instant } from '../../../base/clock.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { PUBLIC, type Requester } from '../access/requester.ts'
import type { CheckedScope } from '../check/checked.ts'
import type { BeliefColumns } from '../record/columns.ts'
import { FEDERATED, LOCAL, Matches, NETWORK } from './matches.ts'

export interface InScopeRequest {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly scope: Pick<CheckedScope, 'local' | 'federated' | 'network'>
  readonly asOf: Instant
  /** When a belief must hold; more than one where filters say so. */
  readonly validAt: readonly Instant[]
}

/** BQ-021, BQ-046, BQ-047 (nothing made after as_of), BQ-086, BQ-094. */
export function inScope({ columns, requester, scope, asOf, validAt }: InScopeRequest): Matches {
  const { partitions, holders, created, validFrom, validUntil } = columns.arrays
  const last = requester.sight.partitions.at(-1) ?? -1
  const codes = sourceCodes(requester, scope, last)
  const self = columns.holderNumber(requester.id)
  const from = Math.min(...validAt)
  const to = Math.max(...validAt)
  const rows = new Int32Array(columns.size)
  const sources = new Uint8Array(columns.size)
  let count = 0
  for (let row = 0; row < columns.rows; row++) {
    const partition = partitions[row] as number
    // Free rows are in -1; what lies behind the last partition in sight is not in sight.
    if (partition < 0 || partition > last) continue
    const source = codes[partition * 2 + (holders[row] === self ? 1 : 0)] as number
    if (source === 0 || (created[row] as number) > asOf) continue
    if ((validFrom[row] as number) > from || (validUntil[row] as number) <= to) continue
    rows[count] = row
    sources[count++] = source
  }
  return new Matches(columns, rows.subarray(0, count), sources.subarray(0, count))
}

/** By partition twice: the source of beliefs that others hold, and of the requester's own; 0: none that is asked. */
function sourceCodes(
  requester: Requester,
  { local, federated, network }: InScopeRequest['scope'],
  last: PartitionId,
): Uint8Array {
  const codes = new Uint8Array((last + 1) * 2)
  for (const partition of requester.sight.partitions) {
    const isPublic = requester.kindOf(partition) === PUBLIC
    const isShared = requester.federationsOf(partition).length > 0
    const others = isPublic ? (network ? NETWORK : 0) : isShared && federated ? FEDERATED : 0
    codes[partition * 2] = others
    codes[partition * 2 + 1] = local ? LOCAL : others
  }
  return codes
}
