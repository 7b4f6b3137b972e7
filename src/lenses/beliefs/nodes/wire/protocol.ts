/**
 * What nodes say to each other about beliefs (BQ-119 to BQ-126), as JSON. A question travels in an `Envelope` of
 * `identity/envelope.ts`; an answer is signed by the node that gives it. Its items are one text, and their vectors another:
 * both are signed as they were sent, by their hash, and nobody writes hundreds of items anew to find out whether they were
 * changed. Instants are ISO 8601 in UTC with milliseconds.
 */
import { type JsonObject, sha256 } from '../../../../base/canonical.ts'
import type { Dimension } from '../../dimensions.ts'
import type { Belief, DerivationType, Visibility } from '../../model.ts'

export const PROTOCOL = 1

/** Where a node answers questions of other nodes, and where it says who it is. */
export const QUERY_PATH = '/v1/nodes/query'
export const ABOUT_PATH = '/.well-known/querent'
/** Where it tells that something of what it answers with has changed. */
export const CHANGES_PATH = '/v1/nodes/changes'

/** Vectors in texts: f32, little-endian, base64; of unit length. */
export interface WireVector {
  /** Key of the model. */
  readonly model: string
  readonly values: string
}

/** Which beliefs are asked for: those shared with one federation, which its members ask for, or public ones. */
export type WireScope =
  | { readonly kind: 'federated'; readonly federation: string }
  | { readonly kind: 'network'; readonly federation: null }

/** One part of the filters; all parts must hold. Holders, trust, reputation and overall confidence are never in it (BQ-121). */
export interface WireFilter {
  readonly valid_at: string | null
  readonly created_after: string | null
  readonly created_before: string | null
  /** Inclusive. */
  readonly min_confidence: Readonly<Partial<Record<Dimension, number>>>
  readonly domains_include: readonly string[] | null
  readonly domains_exclude: readonly string[]
  readonly derivation_types: readonly DerivationType[] | null
  readonly visibility_levels: readonly Visibility[] | null
}

export interface WireQuery {
  readonly protocol: typeof PROTOCOL
  readonly scope: WireScope
  /** What is looked for, operators and exclusions gone; null beside a vector, and in list mode. */
  readonly text: string | null
  /** In place of the text, for a node that is known to have this model. */
  readonly vector: WireVector | null
  readonly filters: readonly WireFilter[]
  /** Lowest cosine of what takes part, -1 to 1. Absent: that of the node that answers. */
  readonly min_similarity?: number | undefined
  /** 1 to 1,000. */
  readonly limit: number
  readonly timeout_ms: number
}

/**
 * One belief, as it leaves a node. `federation_ids`: those asked through: one, or none of a public belief. `holder_id`:
 * did:key of who holds a public belief; of a federated one a pseudonym, null where the federation is strict.
 */
export interface WireItem
  extends Omit<Belief, 'version' | 'supersedes' | 'superseded_by' | 'embedding_model' | 'deleted_at'> {
  /** Holders in the federation who say the same; null for public beliefs. */
  readonly member_count: number | null
  /** Whether there is a vector of it among those of the answer. */
  readonly is_embedded: boolean
  /** By the holder, over `beliefStatement`; null behind a pseudonym, where the node's own signature stands for it. */
  readonly signature: string | null
}

/** Those of the items that are embedded, in their order, one behind the other. */
export interface WireVectors {
  /** Key of the model. */
  readonly model: string
  readonly dimensions: number
  readonly values: string
}

export interface WireAnswer {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node that answers. */
  readonly node: string
  /** did:key of who asked. */
  readonly audience: string
  /** Of the question. */
  readonly nonce: string
  readonly timestamp: string
  /** Key of the model that the node embeds with; null: it has none. */
  readonly model: string | null
  /** The vector is of another model: nothing was looked for, and the question should come again with its text. */
  readonly needs_text: boolean
  /** There are more that match: than were asked for, or than fit into one answer. */
  readonly more: boolean
  /** Of what the requester may see there: another text after each change of it, and the same while it is as it was. */
  readonly state: string
  /** JSON of a list of `WireItem`. */
  readonly items: string
  /** Null: no item is embedded. */
  readonly vectors: WireVectors | null
  /** By the node, over `answerStatement`. */
  readonly signature: string
}

/** Of an answer with one item, the longest that there is: each character of it is up to seven bytes of JSON in JSON. */
const LONGEST_ITEM_BYTES = 2 * 2 ** 20
/** For each item that is asked for; most are far shorter. */
const ITEM_BYTES = 131_072
const MOST_BYTES = 64 * 2 ** 20

/** That are read of an answer to a question for so many items: what does not fit is not told. */
export function mostAnswerBytes(limit: number): number {
  return Math.min(MOST_BYTES, LONGEST_ITEM_BYTES + limit * ITEM_BYTES)
}

/** What a holder signs of a public belief: all that its holder has said. */
export function beliefStatement(item: WireItem): JsonObject {
  const { is_embedded: _, signature: __, member_count: ___, federation_ids: ____, ...said } = item
  return { type: 'querent.belief.v1', ...said } as unknown as JsonObject
}

/** What a node signs of its answer: of the items and of the vectors the hash of their text. */
export function answerStatement({ items, vectors, signature: _, ...answer }: WireAnswer): JsonObject {
  return {
    type: 'querent.answer.v1',
    ...answer,
    items: sha256(items),
    vectors: vectors && { ...vectors, values: sha256(vectors.values) },
  }
}

/** Asks to be told when what may be seen of a scope is no longer in a state: in an envelope, as a question is. */
export interface WireChangesQuery {
  readonly protocol: typeof PROTOCOL
  readonly scope: WireScope
  /** Of an answer; null: which one it is in. */
  readonly since: string | null
  /** How long the answer may be held back while nothing changes. */
  readonly wait_ms: number
}

export interface WireChanges extends Pick<WireAnswer, 'protocol' | 'node' | 'audience' | 'nonce' | 'timestamp'> {
  readonly state: string
  /** By the node, over `changesStatement`. */
  readonly signature: string
}

export function changesStatement({ signature: _, ...changes }: WireChanges): JsonObject {
  return { type: 'querent.changes.v1', ...changes }
}

/** Who a node says that it is. */
export interface WireAbout {
  readonly protocol: typeof PROTOCOL
  /** did:key of the node. */
  readonly did: string
  /** Key of the model that it embeds with; null: it has none. */
  readonly model: string | null
  /** Whether it answers questions of other nodes at all. */
  readonly answers: boolean
  /** Whether it answers questions for public beliefs. */
  readonly network: boolean
  /** Federations that its owner lets it tell of, ascending. */
  readonly federations: readonly string[]
  /** When it said so. */
  readonly timestamp: string
  /** By the node, over `aboutStatement`. */
  readonly signature: string
}

export function aboutStatement({ signature: _, ...about }: WireAbout): JsonObject {
  return { type: 'querent.about.v1', ...about } as unknown as JsonObject
}
