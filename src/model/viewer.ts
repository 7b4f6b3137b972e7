/** The identity that a call acts for. Set by an interface from its authentication, never from what a request says of itself. */
import { OWNER, type PartitionId } from './partition.ts'

export interface Viewer {
  /** An agent's name, or `owner`. */
  readonly id: string
}

/** The local owner of an embedded store: reads every partition, has no limits. */
export const LOCAL_OWNER: Viewer = { id: OWNER }

export function isOwner(viewer: Viewer): boolean {
  return viewer.id === OWNER
}

/** A viewer with what it may read at one moment; made before retrieval, and again before an answer leaves. */
export interface AccessScope {
  readonly viewer: Viewer
  /** Ascending. Whatever lies outside does not exist for this question. */
  readonly partitions: readonly PartitionId[]
}
