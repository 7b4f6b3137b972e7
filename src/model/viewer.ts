/** The identity that a call acts for. Set by an interface from its authentication, never from the content of a request. */
import { OWNER, type PartitionId } from './partition.ts'

export interface Viewer {
  /** Name of the viewer: an agent's, or `owner`. */
  readonly id: string
}

/** The local owner of an embedded store: reads every partition, has no limits. */
export const LOCAL_OWNER: Viewer = { id: OWNER }

export function isOwner(viewer: Viewer): boolean {
  return viewer.id === OWNER
}

/** A viewer with what it may read at one moment; made before retrieval, and again before an answer is returned. */
export interface AccessScope {
  readonly viewer: Viewer
  /** Partitions that the viewer may read, ascending. Everything outside does not exist for this query. */
  readonly partitions: readonly PartitionId[]
}
