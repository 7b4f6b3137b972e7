/** Types of other nodes, of queries to them, and of their answers: verified beliefs, or why there are none (BQ-124, BQ-133, BQ-135). */
import type { Instant } from '../../../base/clock.ts'
import type { Belief, BeliefSource } from '../model.ts'

export interface Peer {
  /** Name of the node here: in `scope.nodes`, in errors and in coverage. Contains no blanks, colons and commas. */
  readonly id: string
  /** Base URL of the node: `http://` or `https://`, without a path. */
  readonly address: string
  /** did:key of the node, which signs its answers and is the audience of queries to it. */
  readonly did: string
  /** Whether public beliefs are requested from the peer. */
  readonly network: boolean
  /** Federations whose beliefs are requested from the peer, ascending. */
  readonly federations: readonly string[]
}

/** One query to one node. A node that serves several federations gets one query for each. */
export interface AskedSource {
  readonly kind: 'federated' | 'network'
  /** Id of the federation, or of the node. */
  readonly id: string
  readonly peer: Peer
}

export interface RemoteBelief {
  /** Id of the peer from which the belief came. */
  readonly node: string
  readonly source: BeliefSource
  /**
   * The complete belief as it is shown. `holder_id`: for a public belief, the holder's name here if the key belongs to an agent of this
   * node, otherwise its did:key; through a federation a pseudonym, or null.
   */
  readonly belief: Belief
  /** The other node's name for the belief through all its versions. */
  readonly chain: string
  /** Vector by the requester's own model; null: there is none, and the belief is ranked as if it were unrelated to the text. */
  readonly vector: Float32Array | null
  /** Number of federation members who hold this belief; null if it did not come through a federation. */
  readonly memberCount: number | null
}

export interface NodeAnswer {
  readonly source: AskedSource
  readonly remotes: readonly RemoteBelief[]
  /** The other node's name for the present state of what the requester may see there. */
  readonly state: string
  /** Whether the node has further matches. */
  readonly more: boolean
  readonly answeredAt: Instant
  readonly elapsedMs: number
}

/** Why a node did not answer, or not completely (BQ-133). */
export interface NodeFailure {
  readonly source: AskedSource
  readonly code: 'TIMEOUT' | 'NODE_UNAVAILABLE' | 'UNAUTHORIZED' | 'RATE_LIMITED'
  /** Detailed reason: `unreachable`, `refused`, `invalid_data`, `too_large`, `protocol`, `timeout`, `no_key`, `failed`. */
  readonly reason: string
  readonly retryable: boolean
  readonly elapsedMs: number
}

export interface NodesAnswer {
  /** All queried sources in the order of BQ-133: federations by id, then network nodes by id. */
  readonly asked: readonly AskedSource[]
  readonly answers: readonly NodeAnswer[]
  /** Failures. A node may both have answered and failed: then some of its items were dropped. */
  readonly failures: readonly NodeFailure[]
}
