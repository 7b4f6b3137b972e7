/** Types of other nodes, of queries to them, and of their answers: verified beliefs, or why there are none (BQ-124, BQ-133, BQ-135). */
import type { Instant } from '../../../base/clock.ts'
import type { Belief, BeliefSource } from '../model.ts'

export interface Peer {
  /** What it is called here: in `scope.nodes`, in errors and in coverage. A name without blanks, colons and commas. */
  readonly id: string
  /** Where it answers: `http://` or `https://`, without a path. */
  readonly address: string
  /** did:key: what its answers are signed with, and the audience of questions. */
  readonly did: string
  /** Whether public beliefs are requested from it. */
  readonly network: boolean
  /** Federations whose beliefs are requested from it, ascending. */
  readonly federations: readonly string[]
}

/** One query to one node. A node that serves several federations gets one query for each. */
export interface AskedSource {
  readonly kind: 'federated' | 'network'
  /** Of the federation, or of the node. */
  readonly id: string
  readonly peer: Peer
}

export interface RemoteBelief {
  /** Id of the peer that it came from. */
  readonly node: string
  readonly source: BeliefSource
  /**
   * Complete, as it is shown. `holder_id`: a public belief's holder, by its name here where the key is that of an agent of
   * this node, else its did:key; through a federation a pseudonym, or null.
   */
  readonly belief: Belief
  /** The same for all its versions, as that node names it. */
  readonly chain: string
  /** Of the requester's own model; null: there is none, and it ranks as if it had nothing to do with the text. */
  readonly vector: Float32Array | null
  /** Through a federation; else null. */
  readonly memberCount: number | null
}

export interface NodeAnswer {
  readonly source: AskedSource
  readonly remotes: readonly RemoteBelief[]
  /** Version of what the requester may see there, as that node names it. */
  readonly state: string
  /** It has more that match. */
  readonly more: boolean
  readonly answeredAt: Instant
  readonly elapsedMs: number
}

/** Why a node did not answer, or not wholly (BQ-133). */
export interface NodeFailure {
  readonly source: AskedSource
  readonly code: 'TIMEOUT' | 'NODE_UNAVAILABLE' | 'UNAUTHORIZED' | 'RATE_LIMITED'
  /** Of the details: `unreachable`, `refused`, `invalid_data`, `too_large`, `protocol`, `timeout`, `no_key`, `failed`. */
  readonly reason: string
  readonly retryable: boolean
  readonly elapsedMs: number
}

export interface NodesAnswer {
  /** All that were asked, in the order of BQ-133: federations by id, then network nodes by id. */
  readonly asked: readonly AskedSource[]
  readonly answers: readonly NodeAnswer[]
  /** A node may have answered and failed: then some of its items were dropped. */
  readonly failures: readonly NodeFailure[]
}
