/** A belief of another node that was verified: its content hash, its signature, its vector, and that it may come from there. */
import type { Instant } from '../../../base/clock.ts'
import type { Belief, BeliefSource } from '../model.ts'
import type { AskedSource } from './peer.ts'

export interface Guest {
  /** Id of the peer that it came from. */
  readonly node: string
  readonly source: BeliefSource
  /**
   * Complete, as it is shown. `holder_id`: a public belief's holder, by its name here where the key is that of an agent of
   * this node, else its did:key; through a federation a pseudonym, or null.
   */
  readonly belief: Belief
  /** Of the requester's own model; null: there is none, and it ranks as if it had nothing to do with the text. */
  readonly vector: Float32Array | null
  /** Through a federation; else null. */
  readonly memberCount: number | null
}

export interface NodeAnswer {
  readonly source: AskedSource
  readonly guests: readonly Guest[]
  /** Of what the requester may see there, as that node calls it. */
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
  /** Of the details: `unreachable`, `refused`, `invalid_data`, `too_large`, `timeout`, `no_key`, `failed`. */
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
