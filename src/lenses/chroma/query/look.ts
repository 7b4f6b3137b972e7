import type { PointIndex } from '../../../index/contract.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { MemoryColumns } from '../memory/columns.ts'
import type { ChromaState } from '../state.ts'

export const POINTS = 'points'

/** One committed state of the store as a viewer sees it. Not to be kept beyond the read it was made in. */
export interface Look {
  readonly state: ChromaState
  readonly viewer: Viewer
  readonly reader: StoreReader
  readonly points: PointIndex
  readonly partitions: readonly PartitionId[]
  readonly columns: MemoryColumns
}

/** Everything that `body` reads belongs together; it must not wait for anything. */
export function looking<T>(state: ChromaState, viewer: Viewer, body: (look: Look) => T): T {
  const { host, memories } = state
  return host.store.read(reader =>
    body({
      state,
      viewer,
      reader,
      points: host.index(POINTS) as PointIndex,
      partitions: host.sight(viewer).partitions,
      columns: memories.of(viewer.id),
    }),
  )
}
