/**
 * Types for querying other nodes: listed nodes, queries, and answers as verified beliefs or reasons why there are none (BQ-124, BQ-133,
 * BQ-135).
 */
import type { Instant } from '../../../base/clock.ts'
import type { Belief, BeliefSource } from '../model.ts'

export interface Peer {
  /** The node's name on this node, used in `scope.nodes`, errors and coverage. Contains no blanks, colons or commas. */
  readonly id: string
  /** Base URL of the node, beginning with `http://` or `https://`, without a path. */
  readonly address: string
  /** Public key (did:key) with which the node signs its answers, and to which queries to the node are addressed. */
  readonly did: string
  /** Whether the node is queried for public beliefs. */
  readonly network: boolean
  /** Federations for whose beliefs the node is queried, ascending. */
  readonly federations: readonly string[]
}

/**
 * A source on another node: a federation's beliefs, or public ones. Each source gets one query, so a node that serves several federations
 * gets one query for each.
 */
export interface AskedSource {
  readonly kind: 'federated' | 'network'
  /** Id of the federation; for public beliefs, id of the node. */
  readonly id: string
  readonly peer: Peer
}

export interface RemoteBelief {
  /** Id of the node from which the belief came. */
  readonly node: string
  readonly source: BeliefSource
  /**
   * The complete belief as shown to the requester. `holder_id`: for a public belief, the name of the agent of this node to whom the
   * holder's key belongs, otherwise the holder's did:key; through a federation, a pseudonym or null.
   */
  readonly belief: Belief
  /** Name by which the other node identifies the belief through all of its versions. */
  readonly chain: string
  /** Vector of the belief by this node's embedding model; null: there is none, so the belief is compared with the text by its words. */
  readonly vector: Float32Array | null
  /** Number of federation members who hold a belief with this content; null if the belief did not come through a federation. */
  readonly memberCount: number | null
}

export interface NodeAnswer {
  readonly source: AskedSource
  readonly remotes: readonly RemoteBelief[]
  /**
   * Identifier of the present state of the beliefs that the requester may see in this source; it changes when one of these beliefs changes.
   */
  readonly state: string
  /** Whether the source has more matches than the answer contains. */
  readonly more: boolean
  readonly answeredAt: Instant
  readonly elapsedMs: number
}

/** Why a source did not answer, or why part of its answer was dropped (BQ-133). */
export interface NodeFailure {
  readonly source: AskedSource
  readonly code: 'TIMEOUT' | 'NODE_UNAVAILABLE' | 'UNAUTHORIZED' | 'RATE_LIMITED'
  /** Detailed reason of the failure: `unreachable`, `refused`, `invalid_data`, `too_large`, `protocol`, `timeout`, `no_key`, `failed`. */
  readonly reason: string
  readonly retryable: boolean
  readonly elapsedMs: number
}

export interface NodesAnswer {
  /** All queried sources, in the order required by BQ-133: federations by id, then network nodes by id. */
  readonly asked: readonly AskedSource[]
  readonly answers: readonly NodeAnswer[]
  /** Failures of sources. A source may have an answer and a failure at once, if some items of its answer were invalid. */
  readonly failures: readonly NodeFailure[]
}
