/** Another node, as this one was told of it (BQ-135). */
export interface Peer {
  /** What it is called here: in `scope.nodes`, in errors and in coverage. A name without blanks, colons and commas. */
  readonly id: string
  /** Where it answers: `http://` or `https://`, without a path. */
  readonly address: string
  /** did:key: what its answers are signed with, and the audience of questions. */
  readonly did: string
  /** Whether it is asked for public beliefs. */
  readonly network: boolean
  /** Federations whose beliefs it is asked for, ascending. */
  readonly federations: readonly string[]
  /** Key of the model that it was last known to embed with; null: not known. */
  readonly model: string | null
}

/** One question to one node. A node that serves several federations is asked for each. */
export interface AskedSource {
  readonly kind: 'federated' | 'network'
  /** Of the federation, or of the node. */
  readonly id: string
  readonly peer: Peer
}
