/** Where points crowd: hashtags draw nodes together, so that most of a million would lie in a few hundred cells. */
import type { Steps } from '../../base/turns.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { PointColumns } from './columns.ts'
import { cellOf } from './grid.ts'

/** A cell with so many points of a partition is a crowd. 64 and 256 scored more or looked at more blocks. */
const CROWD = 97

/** Points looked at in one step. */
const POINTS_AT_ONCE = 1 << 14

/** The cells where points of a partition crowd, by partition, in steps. */
export function* crowdsIn(columns: PointColumns): Steps<ReadonlyMap<PartitionId, ReadonlySet<number>>> {
  const counts = new Map<PartitionId, Map<number, number>>()
  const crowds = new Map<PartitionId, Set<number>>()
  for (let at = 0; at < columns.length; at++) {
    if ((at + 1) % POINTS_AT_ONCE === 0) yield
    const partition = columns.partitions[at] as PartitionId
    const cells = counts.get(partition) ?? new Map<number, number>()
    if (cells.size === 0) counts.set(partition, cells)
    const [l, a, b] = columns.pointAt(at)
    const cell = cellOf(l, a, b)
    const count = (cells.get(cell) ?? 0) + 1
    cells.set(cell, count)
    if (count !== CROWD) continue
    const crowded = crowds.get(partition) ?? new Set<number>()
    crowds.set(partition, crowded.add(cell))
  }
  return crowds
}
