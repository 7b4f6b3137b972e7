/** The identity for which a call runs. An interface sets it from its authentication, never from the content of a request. */
import { OWNER, type PartitionId } from './partition.ts'

export interface Viewer {
  /** Name of the viewer: `owner`, or the name of an agent. */
  readonly id: string
}

/** The local owner of an embedded store, who can read every partition and has no limits. */
export const LOCAL_OWNER: Viewer = { id: OWNER }

export function isOwner(viewer: Viewer): boolean {
  return viewer.id === OWNER
}

/**
 * A viewer with the partitions that it may read at one moment. Determined before retrieval, and again just before an answer is returned.
 */
export interface AccessScope {
  readonly viewer: Viewer
  /** Numbers of the partitions that the viewer may read, ascending. For this query, entries in other partitions do not exist. */
  readonly partitions: readonly PartitionId[]
}
